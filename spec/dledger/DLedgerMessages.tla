--------------------------- MODULE DLedgerMessages ---------------------------
(* What members of a DLedger group say to each other, as it is so when they say it.

   Steps of DLedger leave open what is in a message that only asks, and what is answered to it: a
   heartbeat, a push that is refused, a place in the log where two differ.  Who reads a trace knows,
   and asks here whether it was right.  All of it changes nothing, and finite models leave it out.

   Source: DLedgerLeaderElector (`handleHeartBeat`, `sendHeartbeats`), DLedgerEntryPusher
   (EntryDispatcher, EntryHandler) of openmessaging/dledger at d054548.                           *)
EXTENDS DLedgerState

Quorum(S) == 2 * Cardinality(S) > Cardinality(Node)
End(n) == Len(log[n])
\* The term of an entry that the node has, or of the last one that it has cut.
TermAt(n, i) == IF i = base[n] THEN baseTerm[n] ELSE log[n][i].term
Has(n, i, t) == i \in base[n]..End(n) /\ TermAt(n, i) = t

\* Whatever a node is, it answers.                                              \* CHECK B67
Answers(m) == TRUE
\* Pushes of an old leader are refused.                                         \* CHECK OldLeader
IsOfLeader(m, from, t) == role[m] = "Follower" /\ leader[m] = from /\ term[m] = t
\* What a follower acknowledges survives a power cut.                           \* CHECK SyncedAck
AckIndex(m) == Min(same[m], synced[m])

-----------------------------------------------------------------------------
\* ---- What a leader asks: l is who leads, as it says, t its term, c what it has committed ----

LeadsTerm(n, l, t) == l = n /\ role[n] = "Leader" /\ leader[n] = n /\ term[n] = t

SendHeartbeat(n, l, t) ==
  /\ LeadsTerm(n, l, t)

  /\ UNCHANGED vars

\* COMPARE: its entry i is of term e.
SendCompare(n, l, t, c, i, e) ==
  /\ LeadsTerm(n, l, t) /\ c = commit[n] /\ Has(n, i, e)

  /\ UNCHANGED vars

\* TRUNCATE: m cuts its log before entry i, which is of term e.
SendTruncate(n, l, t, c, i, e, m) ==
  /\ LeadsTerm(n, l, t) /\ c = commit[n]
  /\ [from |-> n, to |-> m, term |-> t, index |-> i, entryTerm |-> e] \in truncates

  /\ UNCHANGED vars

\* APPEND: its entries i to j, of which the last is of term e.
SendEntries(n, l, t, c, i, j, e) ==
  /\ LeadsTerm(n, l, t) /\ c = commit[n]
  /\ base[n] < i /\ i <= j /\ Has(n, j, e)

  /\ UNCHANGED vars

SendCommit(n, l, t, c) ==
  /\ LeadsTerm(n, l, t) /\ c = commit[n]

  /\ UNCHANGED vars

\* INSTALL_SNAPSHOT: what its first i entries come to, the last of which is of term e.
SendSnapshot(n, l, t, i, e) ==
  /\ LeadsTerm(n, l, t) /\ i = snap[n] /\ i > 0 /\ log[n][i].term = e

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
\* ---- What is answered to who says that it leads term t ----

\* The answers to heartbeats and pushes (DLedgerResponseCode).
PushAnswers == {"SUCCESS", "EXPIRED_TERM", "TERM_NOT_READY", "INCONSISTENT_LEADER", "NOT_FOLLOWER",
                "NEWER_INSTALL_SNAPSHOT_REQUEST_EXIST", "UNKNOWN_MEMBER", "UNEXPECTED_MEMBER"}

\* Who is no member (None) leads nobody, and no member hears heartbeats of its own.
HeartbeatAnswer(m, l, t) ==
  IF l = None THEN "UNKNOWN_MEMBER" ELSE IF l = m THEN "UNEXPECTED_MEMBER"
  ELSE IF t < term[m] THEN "EXPIRED_TERM" ELSE IF t > term[m] THEN "TERM_NOT_READY"
  ELSE IF leader[m] = l THEN "SUCCESS" ELSE "INCONSISTENT_LEADER"
\* The answer to a heartbeat, once it is taken: with its own term if that is why.
AnswerHeartbeat(m, l, t, r, a) ==
  /\ r = HeartbeatAnswer(m, l, t)
  /\ r \in {"EXPIRED_TERM", "UNKNOWN_MEMBER", "UNEXPECTED_MEMBER"} => a = term[m]
  /\ r = "TERM_NOT_READY" => role[m] = "Candidate" /\ raise[m] /\ known[m] >= t
  /\ r = "SUCCESS" => role[m] = "Follower"

  /\ UNCHANGED vars

Refusal(m, t) ==
  IF t < term[m] THEN "EXPIRED_TERM" ELSE IF t > term[m] THEN "TERM_NOT_READY"
  ELSE IF role[m] # "Follower" THEN "NOT_FOLLOWER" ELSE "INCONSISTENT_LEADER"
RefusePush(m, l, t, r, a) ==
  /\ ~IsOfLeader(m, l, t) /\ r = Refusal(m, t)
  /\ a = IF r = "EXPIRED_TERM" THEN term[m] ELSE t

  /\ UNCHANGED vars

\* A snapshot is refused, too, if it has nothing that is new.
RefuseSnapshot(m, l, t, i, r) ==
  /\ IF IsOfLeader(m, l, t) THEN r = "NEWER_INSTALL_SNAPSHOT_REQUEST_EXIST" /\ i <= commit[m]
     ELSE r = Refusal(m, t)

  /\ UNCHANGED vars

\* ---- What a follower answers to COMPARE of entry i, which is of term e ----

FindSame(m, l, t, i, e) ==
  /\ IsOfLeader(m, l, t) /\ Has(m, i, e) /\ same[m] >= i

  /\ UNCHANGED vars

\* The term that it has there, and from where on: of what is committed its leader has the same.
OtherTerm(m, i) == IF i \in base[m]..End(m) THEN TermAt(m, i) ELSE 0
OtherFrom(m, i) ==
  IF i \notin base[m]..End(m) THEN 0
  ELSE LET first == MinOf({j \in base[m]..i : TermAt(m, j) = TermAt(m, i)})
       IN IF commit[m] < i THEN Max(first, commit[m] + 1) ELSE first
\* It says up to where its log is cut and where it ends, too.
FindOther(m, l, t, i, e, cut, end, x, j) ==
  /\ IsOfLeader(m, l, t) /\ ~Has(m, i, e)
  /\ cut = base[m] /\ end = End(m)
  /\ x = OtherTerm(m, i) /\ j = OtherFrom(m, i)

  /\ UNCHANGED vars

\* ---- ... and to other pushes ----

\* What it is asked to acknowledge it has.
AcknowledgePush(m, t, i) ==
  /\ role[m] = "Follower" /\ term[m] = t /\ i <= AckIndex(m)

  /\ UNCHANGED vars

\* Entries i to j, the first of which is of term e, do not go behind what it has of its leader, or are others.
RefuseEntries(m, l, t, i, j, e, a) ==
  /\ IsOfLeader(m, l, t) /\ a = t
  /\ \/ i > same[m] + 1 \/ (j > same[m] /\ same[m] # End(m))
     \/ i \in (base[m] + 1)..same[m] /\ log[m][i].term # e

  /\ UNCHANGED vars

\* It cannot cut before entry i, or does not know what is before that; or that is committed, and its leader does
\* not say (0) of which term e it is.
RefuseTruncate(m, l, t, i, e, a) ==
  /\ IsOfLeader(m, l, t) /\ a = t
  /\ i <= base[m] \/ AckIndex(m) < i - 1 \/ (e = 0 /\ i <= commit[m])

  /\ UNCHANGED vars

\* What no leader sends: no entries (0) or a snapshot as if it were a push, or an entry i that is too large.
RefuseMalformed(m, l, t, i, a) ==
  /\ IsOfLeader(m, l, t) /\ a = t
  /\ i \in {0, End(m) + 1}

  /\ UNCHANGED vars

\* Its leader cannot have an entry of term e behind those that m has.
RefuseTerm(m, l, t, e, a) ==
  /\ IsOfLeader(m, l, t) /\ a = t
  /\ e > t \/ e < TermAt(m, End(m))

  /\ UNCHANGED vars

TakeCommit(m, l, t) ==
  /\ IsOfLeader(m, l, t)

  /\ UNCHANGED vars

\* ---- What clients are told ----

\* A write: it is entry i, and the state machine has just had that; j is the entry that it became.
AnswerWrite(n, t, i, j) ==
  /\ role[n] = "Leader" /\ t = term[n]
  /\ i = j /\ i = applied[n]

  /\ UNCHANGED vars

\* A read without an entry: i was committed when it came, and was of the leader's term.
AnswerRead(n, i) ==
  /\ role[n] = "Leader" /\ i \in 1..applied[n] /\ log[n][i].term = term[n]

  /\ UNCHANGED vars

\* The reasons why not (DLedgerResponseCode).
ClientAnswers == {"NOT_LEADER", "LEADER_NOT_READY", "LEADER_TRANSFERRING", "LEADER_PENDING_FULL",
                  "WAIT_QUORUM_ACK_TIMEOUT"}
\* A client is refused for r, and told that w leads.
RefuseClient(n, r, w) ==
  /\ w = leader[n]
  /\ r = "NOT_LEADER" => role[n] # "Leader"
  /\ r = "LEADER_NOT_READY" => role[n] = "Leader" /\ TermAt(n, commit[n]) # term[n]
  /\ r = "LEADER_TRANSFERRING" => role[n] = "Leader" /\ transferee[n] # None

  /\ UNCHANGED vars

\* ---- What is told to a candidate l that is no member (None), or m itself ----

StrangeCandidates == {"REJECT_UNKNOWN_LEADER", "REJECT_UNEXPECTED_LEADER"}
RefuseCandidate(m, l, r, a) ==
  /\ l \in {m, None} /\ a = term[m]
  /\ r = IF l = m THEN "REJECT_UNEXPECTED_LEADER" ELSE "REJECT_UNKNOWN_LEADER"

  /\ UNCHANGED vars

\* ---- What is told to who sends a member what is for l, or for another group, in term t ----

MisdirectedAnswers == {"UNKNOWN_MEMBER", "UNKNOWN_GROUP"}
\* It is refused, and changes nothing; a is the term in the answer, and l None if it is no member.
RefuseMisdirected(m, l, t, r, a) ==
  /\ r = IF l # m THEN "UNKNOWN_MEMBER" ELSE "UNKNOWN_GROUP"
  /\ a = t

  /\ UNCHANGED vars

\* ---- What is told to who wants m to lead instead of l, in term t; m is None if it is no member ----

\* The reasons why not, in the order in which they are looked at (DLedgerResponseCode).
TransferAnswers == {"UNEXPECTED_ARGUMENT", "UNKNOWN_MEMBER", "INCONSISTENT_LEADER", "INCONSISTENT_TERM",
                    "NOT_LEADER", "FALL_BEHIND_TOO_MUCH", "LEADER_TRANSFERRING"}
\* It is to take over from l.
TakingRefusal(n, l, t) ==
  IF l # leader[n] THEN "INCONSISTENT_LEADER" ELSE IF t # term[n] THEN "INCONSISTENT_TERM" ELSE None
TransferRefusal(n, l, m, t) ==
  IF l # n /\ m = n THEN TakingRefusal(n, l, t)
  ELSE IF l # n THEN "UNEXPECTED_ARGUMENT" ELSE IF m = None THEN "UNKNOWN_MEMBER"
  ELSE IF t # term[n] THEN "INCONSISTENT_TERM" ELSE IF role[n] # "Leader" THEN "NOT_LEADER"
  ELSE IF m = n THEN "UNEXPECTED_ARGUMENT" ELSE None
\* It hands over to somebody, or waits still for what became of that in an earlier term.
IsTransferring(n) ==
  transferee[n] # None \/ \E q \in transfers : q.from = n /\ q.term < term[n]
\* n refuses for r; who may lead must lack less than `most` entries of its leader's.
RefuseTransfer(n, l, m, t, most, r) ==
  /\ LET why == TransferRefusal(n, l, m, t)
     IN \/ r = why
        \/ why = None /\ r = "FALL_BEHIND_TOO_MUCH" /\ End(n) >= most
        \/ why = None /\ r = "LEADER_TRANSFERRING" /\ IsTransferring(n)

  /\ UNCHANGED vars

\* n has heard how it went that it wanted to hand over: it takes entries again, if it leads.
HearOfTransfer(n) ==
  /\ role[n] = "Leader" => transferee[n] = None

  /\ UNCHANGED vars

\* ---- What is missed of a member that is done with what has come ----

\* Who reads a trace knows no step that does what n has done.
Unexplained(n) == UNCHANGED vars

\* Somebody waits for an answer.
LeaveUnanswered(m) ==
  /\ ~Answers(m)

  /\ UNCHANGED vars

\* Its leader has told it that c entries are committed.
KnowCommit(m, l, t, c) ==
  /\ IsOfLeader(m, l, t) => commit[m] >= Min(c, same[m])

  /\ UNCHANGED vars

\* A leader has heard that those of S have entry i on their disks, itself perhaps among them.
CountHolders(n, S, i) ==
  /\ role[n] = "Leader" /\ Quorum(S) /\ i \in (base[n] + 1)..End(n) /\ log[n][i].term = term[n]
       => commit[n] >= i

  /\ UNCHANGED vars

\* Its state machine need not wait.
ApplyAll(m) ==
  /\ applied[m] = Min(commit[m], End(m))

  /\ UNCHANGED vars

\* Who begins to lead term t has written an entry of its own, and asked all others, S, what they have.
BeginTerm(n, S) ==
  /\ role[n] = "Leader" =>
       /\ Node \ {n} \subseteq S
       /\ End(n) > base[n] /\ TermAt(n, End(n)) = term[n]

  /\ UNCHANGED vars

\* Somebody has answered a push of it, or has all that is before an entry that it wrote, and it does not push
\* what comes next.
LeaveBehind(n) ==
  /\ role[n] # "Leader"

  /\ UNCHANGED vars

\* The answers that have come decide a round of votes, which goes on.
KeepRound(n) ==
  /\ round[n] = NoRound

  /\ UNCHANGED vars

\* Leader l of term t wants it to lead, who must have entry i; and it goes on to follow.
StayFollower(n, l, t, i) ==
  /\ ~(IsOfLeader(n, l, t) /\ End(n) >= i)

  /\ UNCHANGED vars

\* It applies entries, and has no snapshot of the last but `most`.
SaveLate(n, most) ==
  /\ applied[n] - snap[n] < most

  /\ UNCHANGED vars

\* Its log goes up to its snapshot still,
KeepEntries(n) ==
  /\ base[n] = snap[n]

  /\ UNCHANGED vars

\* or is cut, and files are left in which there were only entries of that part.
KeepFiles(n) ==
  /\ base[n] = 0

  /\ UNCHANGED vars

\* ---- What a member does sooner than it may; how long it has to wait, is not said here ----

\* It goes to a larger term, or asks for votes in one, that has to wait for a leader.
AskEarly(n) ==
  /\ role[n] # "Candidate"

  /\ UNCHANGED vars

\* A leader says again what it has just said, or pushes to who has just refused a push.
RepeatEarly(n) ==
  /\ role[n] # "Leader"

  /\ UNCHANGED vars

\* It gives up a leader that it has heard.
GiveUpEarly(n) ==
  /\ leader[n] # None

  /\ UNCHANGED vars

\* ---- What is missed of a member for longer than it may wait; how long that is, is not said here ----

\* A leader has sent no heartbeats,
NoHeartbeats(n) ==
  /\ role[n] # "Leader"

  /\ UNCHANGED vars

\* has pushed nothing to m,
NoPush(n, m) ==
  /\ role[n] # "Leader"

  /\ UNCHANGED vars

\* has no majority that answers its heartbeats,
NoMajority(n) ==
  /\ role[n] # "Leader"

  /\ UNCHANGED vars

\* has an entry that is not synchronized,
NoSync(n) ==
  /\ role[n] = "Leader" => synced[n] = End(n)

  /\ UNCHANGED vars

\* or hands over its leadership.
NoTransfer(n) ==
  /\ transferee[n] = None

  /\ UNCHANGED vars

\* A follower has heard no leader.
NoLeader(n) ==
  /\ role[n] # "Follower"

  /\ UNCHANGED vars

\* A candidate has asked for no votes,
NoVotes(n) ==
  /\ role[n] # "Candidate" \/ round[n] # NoRound

  /\ UNCHANGED vars

\* or its round does not end.
NoResult(n) ==
  /\ round[n] = NoRound

  /\ UNCHANGED vars

\* Entry i is committed, and waits for the state machine.
NoApply(n, i) ==
  /\ applied[n] >= i

  /\ UNCHANGED vars
-----------------------------------------------------------------------------
\* All of this, but for answers to requests for votes.
SaysElse(n) ==
  \/ KeepEntries(n) \/ KeepFiles(n) \/ KeepRound(n) \/ LeaveBehind(n) \/ \E most \in Nat : SaveLate(n, most)
  \/ \E l \in Node, t, i \in Nat : StayFollower(n, l, t, i)
  \/ AskEarly(n) \/ RepeatEarly(n) \/ GiveUpEarly(n)
  \/ Unexplained(n) \/ HearOfTransfer(n) \/ LeaveUnanswered(n) \/ ApplyAll(n) \/ \E S \in SUBSET Node : BeginTerm(n, S)
  \/ NoHeartbeats(n) \/ NoMajority(n) \/ NoSync(n) \/ NoTransfer(n) \/ \E m \in Node : NoPush(n, m)
  \/ NoLeader(n) \/ NoVotes(n) \/ NoResult(n) \/ \E i \in Nat : NoApply(n, i) \/ AnswerRead(n, i)
  \/ \E t, i, j \in Nat : AnswerWrite(n, t, i, j)
  \/ \E r \in ClientAnswers, w \in Node \cup {None} : RefuseClient(n, r, w)
  \/ \E l \in Node \cup {None}, t, a \in Nat, r \in MisdirectedAnswers : RefuseMisdirected(n, l, t, r, a)
  \/ \E l, m \in Node \cup {None}, t, most \in Nat, r \in TransferAnswers : RefuseTransfer(n, l, m, t, most, r)
  \/ \E S \in SUBSET Node, i \in Nat : CountHolders(n, S, i)
  \/ \E t, i \in Nat : AcknowledgePush(n, t, i)
  \/ \E l \in Node, t \in Nat : SendHeartbeat(n, l, t) \/ TakeCommit(n, l, t)
  \/ \E l \in Node, t, i \in Nat : SendCommit(n, l, t, i) \/ KnowCommit(n, l, t, i)
  \/ \E l \in Node, t, i, e, a \in Nat : RefuseTruncate(n, l, t, i, e, a)
  \/ \E l \in Node, t, e, a \in Nat : RefuseMalformed(n, l, t, e, a) \/ RefuseTerm(n, l, t, e, a)
  \/ \E l \in Node \cup {None}, r \in StrangeCandidates, a \in Nat : RefuseCandidate(n, l, r, a)
  \/ \E l \in Node, t, i, j \in Nat : SendSnapshot(n, l, t, i, j) \/ FindSame(n, l, t, i, j)
  \/ \E l \in Node, t, i, j, e, a \in Nat : RefuseEntries(n, l, t, i, j, e, a)
  \/ \E l \in Node, t, c, i, e \in Nat : SendCompare(n, l, t, c, i, e)
  \/ \E l, m \in Node, t, c, i, e \in Nat : SendTruncate(n, l, t, c, i, e, m)
  \/ \E l \in Node, t, c, i, j, e \in Nat : SendEntries(n, l, t, c, i, j, e)
  \/ \E l \in Node \cup {None}, t, a \in Nat, r \in PushAnswers : AnswerHeartbeat(n, l, t, r, a) \/ RefusePush(n, l, t, r, a)
  \/ \E l \in Node, t, i \in Nat, r \in PushAnswers : RefuseSnapshot(n, l, t, i, r)
  \/ \E l \in Node, t, i, e, cut, end, x, j \in Nat : FindOther(n, l, t, i, e, cut, end, x, j)
=============================================================================

------------------------------- MODULE DLedger -------------------------------
(* A group that agrees on one log, as DLedger does it: Raft with an election of its own.

   A node asks for votes in the term that it is in, and goes to a larger one only when a round said
   so.  Who hears of a larger term does not vote: it becomes a candidate, goes to that term, and is
   asked again.  A leader finds out with COMPARE up to where the log of a follower is its own, has
   the rest cut (TRUNCATE), sends its entries (APPEND), and tells what is committed (COMMIT); a
   follower that lacks what the leader has cut gets its snapshot (INSTALL_SNAPSHOT).

   Modelled: all answers to requests for votes in the order in which they are decided, and what a
   round makes of those that came; heartbeats; leaders that do not know that they were replaced;
   messages that come late, twice, in another order, or never; entries that are sent before they are
   synchronized, power cuts that leave any part of what was not; logs that are damaged and thrown away;
   snapshots, logs that are cut behind them, installs; leadership that is handed over.
   Not modelled: time (any node may give up waiting at any moment), quotas and batches, what is
   written in a snapshot and how (SnapshotLoading), requests of clients (Register), changes of the
   group, which no release has.

   Conventions: indexes and terms count from 1 and 0 is before the first entry, where DLedger counts
   from 0 and has -1.  A power cut and the start after it are one step: a node that is down is one that
   does not answer.  The answer to a push is in the step that gives it.
   Source: DLedgerLeaderElector, DLedgerEntryPusher, MemberState of openmessaging/dledger at
   d054548; published rule: the Raft paper, sections 5 and 7.                                     *)
EXTENDS DLedgerMessages

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, n) == TRUE
\* Which requests for votes and to lead and heartbeats come to m, and which answers end a round: all.
Arrives(message, m) == TRUE
IsOver(n, S) == TRUE

\* What a node claims of its log: the term of the last entry, not the term that it is in.  \* CHECK B60
EndTerm(n) == TermAt(n, End(n))

\* ---- Candidates (maintainAsCandidate) ----

NextTerm(n) == Max(known[n], term[n] + 1)
\* What n knows of larger terms when it hears of t.
KnownWith(n, t) == IF t > term[n] THEN Max(known[n], t) ELSE known[n]

\* A candidate goes to the next term; it asks nobody yet (MemberState.nextTerm).
IncreaseTerm(n) ==
  /\ Explored("IncreaseTerm", n)
  /\ role[n] = "Candidate" /\ round[n] = NoRound
  /\ raise[n] \/ next[n]

  /\ term' = [term EXCEPT ![n] = NextTerm(n)] /\ vote' = [vote EXCEPT ![n] = None]
  /\ known' = [known EXCEPT ![n] = 0]
  /\ raise' = [raise EXCEPT ![n] = FALSE] /\ next' = [next EXCEPT ![n] = FALSE]
  /\ UNCHANGED <<refill, logVars, role, leader, round, taking, transferee, indexVars, messageVars,
                 inc, agreed>>

AnswerOf(result, t) == [result |-> result, term |-> t]

\* A node that shall take the leadership lets nobody before it with the same log.
IsTaking(n) == n \in Preferred /\ taking[n] = term[n] /\ taking[n] # 0

\* A log that lacks what the voter has must not win.                            \* CHECK ShorterLog
RefusesLog(m, a) ==
  IF a.endTerm < EndTerm(m) THEN "REJECT_EXPIRED_LEDGER_TERM"
  ELSE IF a.endTerm = EndTerm(m) /\ a.endIndex < End(m) THEN "REJECT_SMALL_LEDGER_END_INDEX"
  ELSE "ACCEPT"
\* One vote in a term.                                                          \* CHECK OneVote
HasVoted(m, a) == vote[m] \notin {None, a.from}
\* None of who has thrown its log away, until it has an entry of a leader of a later term: that one
\* has what this one has acknowledged, and does not know any more.              \* CHECK Refilled
MayVote(m) == EndTerm(m) >= refill[m]
\* Who hears of a larger term goes there before it votes.                       \* CHECK TermNotReady
IsReady(m, a) == a.term = term[m]

\* What m answers to a request, in the order in which it is decided (handleVote).
VoteAnswer(m, a) ==
  IF RefusesLog(m, a) # "ACCEPT" THEN AnswerOf(RefusesLog(m, a), 0)
  ELSE IF a.term < term[m] THEN AnswerOf("REJECT_EXPIRED_VOTE_TERM", term[m])
  ELSE IF a.term = term[m] /\ (HasVoted(m, a) \/ ~MayVote(m))
    THEN AnswerOf(IF leader[m] # None THEN "REJECT_ALREADY_HAS_LEADER" ELSE "REJECT_ALREADY_VOTED", 0)
  ELSE IF ~IsReady(m, a) THEN AnswerOf("REJECT_TERM_NOT_READY", 0)
  ELSE IF a.term < EndTerm(m) THEN AnswerOf("REJECT_TERM_SMALL_THAN_LEDGER", EndTerm(m))
  ELSE IF a.from # m /\ IsTaking(m) /\ a.endTerm = EndTerm(m) /\ a.endIndex <= End(m)
    THEN AnswerOf("REJECT_TAKING_LEADERSHIP", 0)
  ELSE AnswerOf("ACCEPT", 0)

AskOf(n) == [from |-> n, term |-> term[n], endIndex |-> End(n), endTerm |-> EndTerm(n)]

\* A candidate asks all members, itself first (voteForQuorumResponses).
AskVotes(n) ==
  /\ Explored("AskVotes", n)
  /\ role[n] = "Candidate" /\ round[n] = NoRound
  /\ ~raise[n] /\ ~next[n]

  /\ asks' = asks \cup {AskOf(n)}
  /\ LET own == VoteAnswer(n, AskOf(n))
     IN /\ round' = [round EXCEPT ![n][n] = own]
        /\ vote' = [vote EXCEPT ![n] = IF own.result = "ACCEPT" THEN n ELSE @]
  /\ UNCHANGED <<term, refill, logVars, role, leader, known, raise, next, taking, transferee, indexVars,
                 sent, truncates, acks, transfers, inc, agreed>>

\* m becomes a candidate because it heard of term t; the old leader hears of it by its heartbeats.
StepDown(m, t) ==
  /\ role' = [role EXCEPT ![m] = "Candidate"] /\ leader' = [leader EXCEPT ![m] = None]
  /\ known' = [known EXCEPT ![m] = KnownWith(m, t)]
  /\ taking' = [taking EXCEPT ![m] = IF t > @ THEN 0 ELSE @]
  /\ transferee' = [transferee EXCEPT ![m] = None]
  /\ same' = [same EXCEPT ![m] = 0]

\* m receives a request for its vote, perhaps late.  The answer counts in the round that it is of: a
\* request of a round before is the same, and the answer to it may come to nobody.
HandleVote(m) ==
  \E a \in asks :
    /\ a.from # m /\ Arrives(a, m) /\ Answers(m)
    /\ LET answer == VoteAnswer(m, a)
           waits == round[a.from] # NoRound /\ a = AskOf(a.from)
           again == waits /\ round[a.from][m] # NoAnswer
       IN /\ \/ round' = IF waits THEN [round EXCEPT ![a.from][m] = answer] ELSE round
             \/ again /\ round' = round
          /\ vote' = [vote EXCEPT ![m] = IF answer.result = "ACCEPT" THEN a.from ELSE @]
          /\ IF answer.result = "REJECT_TERM_NOT_READY"
             THEN StepDown(m, a.term) /\ raise' = [raise EXCEPT ![m] = TRUE]
             ELSE UNCHANGED <<role, leader, known, raise, taking, transferee, same>>
    /\ UNCHANGED <<term, refill, logVars, next, commit, applied, messageVars, inc, agreed>>

\* What m has answered, whoever counts it.
AnswerVote(m, from, t, i, e, r, a) ==
  /\ VoteAnswer(m, [from |-> from, term |-> t, endIndex |-> i, endTerm |-> e]) = AnswerOf(r, a)

  /\ UNCHANGED vars

With(n, S, R) == {m \in S : round[n][m].result \in R}
LargerTerms(n, S) ==
  {round[n][m].term : m \in With(n, S, {"REJECT_EXPIRED_VOTE_TERM", "REJECT_TERM_SMALL_THAN_LEDGER"})}
\* What a candidate makes of the answers of S, the others came too late (VoteResponse.ParseResult).
Parsed(n, S) ==
  LET accepted == With(n, S, {"ACCEPT"})
      bigger == With(n, S, {"REJECT_EXPIRED_LEDGER_TERM", "REJECT_SMALL_LEDGER_END_INDEX"})
      notReady == With(n, S, {"REJECT_TERM_NOT_READY"})
  IN IF LargerTerms(n, S) # {} THEN "WAIT_TO_VOTE_NEXT"
     ELSE IF With(n, S, {"REJECT_ALREADY_HAS_LEADER"}) # {} THEN "WAIT_TO_REVOTE"
     ELSE IF ~Quorum(S) \/ ~Quorum(S \ bigger) THEN "WAIT_TO_REVOTE"
     ELSE IF Quorum(accepted) THEN "PASSED"
     ELSE IF Quorum(accepted \cup notReady) THEN "REVOTE_IMMEDIATELY"
     ELSE "WAIT_TO_VOTE_NEXT"

\* Who has heard of a larger term while it waited does not lead in this one: it goes there.
\*                                                                              \* CHECK PassedStale
MayLead(n) == ~raise[n] /\ known[n] <= term[n]

\* n leads from now on (changeRoleToLeader), and its log is what it may send.
BecomeLeader(n) ==
  /\ role' = [role EXCEPT ![n] = "Leader"] /\ leader' = [leader EXCEPT ![n] = n]
  /\ taking' = [taking EXCEPT ![n] = 0]
  /\ sent' = sent \cup {[by |-> n, inc |-> inc[n], term |-> term[n], log |-> log[n],
                         commit |-> commit[n], snap |-> snap[n]]}
  /\ UNCHANGED <<known, next>>

\* The round of n ends with the answers of S.
ParseVotes(n) ==
  \E S \in SUBSET {m \in Node : round[n][m] # NoAnswer} :
    /\ round[n] # NoRound /\ n \in S /\ IsOver(n, S)

    /\ round' = [round EXCEPT ![n] = NoRound]
    /\ IF Parsed(n, S) = "PASSED" /\ MayLead(n) THEN BecomeLeader(n)
       ELSE /\ IF Parsed(n, S) \in {"PASSED", "WAIT_TO_VOTE_NEXT"}
               THEN /\ next' = [next EXCEPT ![n] = TRUE]
                    /\ known' = [known EXCEPT ![n] = MaxOf({@} \cup LargerTerms(n, S))]
               ELSE UNCHANGED <<known, next>>
            /\ UNCHANGED <<role, leader, taking, sent>>
    /\ UNCHANGED <<diskVars, raise, transferee, indexVars, asks, truncates, acks, transfers, inc, agreed>>

\* ---- Leaders and followers (handleHeartBeat, maintainAsLeader, maintainAsFollower) ----

\* A round that was over before does not say what the next one does.            \* CHECK B70
NextAsFollower(m) == FALSE

\* m receives a heartbeat, perhaps late: it follows the leader of its term, and goes to a larger one.
\* A smaller one is answered (HearTerm), and that of the leader that it has changes nothing.
HandleHeartbeat(m) ==
  \E l \in sent :
    /\ l.by # m /\ Arrives(l, m) /\ Answers(m)
    /\ \/ /\ l.term = term[m] /\ leader[m] = None /\ role[m] = "Candidate"
          /\ role' = [role EXCEPT ![m] = "Follower"] /\ leader' = [leader EXCEPT ![m] = l.by]
          /\ next' = [next EXCEPT ![m] = NextAsFollower(m)]
          /\ round' = [round EXCEPT ![m] = NoRound]
          /\ taking' = [taking EXCEPT ![m] = 0]
          /\ UNCHANGED <<known, raise, transferee, same>>
       \/ /\ l.term > term[m]
          /\ StepDown(m, l.term) /\ raise' = [raise EXCEPT ![m] = TRUE]
          /\ UNCHANGED <<next, round>>
    /\ UNCHANGED <<diskVars, commit, applied, messageVars, inc, agreed>>

\* A leader that hears of a larger term is none, whoever answers besides,       \* CHECK B63
\* and whatever log who is in that term has.                                    \* CHECK B64
GivesWay(n, m) == term[m] > term[n]

\* A leader hears that m is in a larger term, or was in one (EXPIRED_TERM).
HearTerm(n, m) ==
  /\ role[n] = "Leader" /\ GivesWay(n, m)

  /\ \E t \in (term[n] + 1)..term[m] : StepDown(n, t)
  /\ UNCHANGED <<diskVars, raise, next, round, commit, applied, messageVars, inc, agreed>>

\* A leader without answers of a quorum, or a follower without a leader, is a candidate in its term.
BecomeCandidate(n) ==
  /\ Explored("BecomeCandidate", n)
  /\ role[n] # "Candidate"

  /\ StepDown(n, term[n])
  /\ UNCHANGED <<diskVars, raise, next, round, commit, applied, messageVars, inc, agreed>>

\* ---- Leadership that is handed over (handleLeadershipTransfer, handleTakeLeadership) ----

\* n asks m to lead, and takes no more entries.
TransferLeadership(n, m) ==
  /\ Explored("TransferLeadership", n)
  /\ role[n] = "Leader" /\ m # n /\ transferee[n] = None

  /\ transferee' = [transferee EXCEPT ![n] = m]
  /\ transfers' = transfers \cup {[from |-> n, to |-> m, term |-> term[n], index |-> End(n)]}
  /\ UNCHANGED <<diskVars, role, leader, known, raise, next, round, taking, indexVars, asks, sent,
                 truncates, acks, inc, agreed>>

\* m has what the leader has, and asks for votes in the next term.
TakeLeadership(m) ==
  \E r \in transfers :
    /\ r.to = m /\ Arrives(r, m) /\ r.term = term[m] /\ leader[m] = r.from /\ role[m] = "Follower"
    /\ End(m) >= r.index

    /\ role' = [role EXCEPT ![m] = "Candidate"] /\ leader' = [leader EXCEPT ![m] = None]
    /\ known' = [known EXCEPT ![m] = Max(@, term[m] + 1)]
    /\ raise' = [raise EXCEPT ![m] = TRUE]
    /\ taking' = [taking EXCEPT ![m] = term[m] + 1]
    /\ same' = [same EXCEPT ![m] = 0]
    /\ UNCHANGED <<diskVars, next, round, transferee, commit, applied, messageVars, inc, agreed>>

\* The leader hears that it failed, or nothing in time: it takes entries again.  \* CHECK TransferEnds
MayGoOn(n) == TRUE

GoOnLeading(n) ==
  /\ role[n] = "Leader" /\ transferee[n] # None /\ MayGoOn(n)

  /\ transferee' = [transferee EXCEPT ![n] = None]
  /\ UNCHANGED <<diskVars, role, leader, known, raise, next, round, taking, indexVars, messageVars,
                 inc, agreed>>

\* ---- The log of a leader ----

\* What the leader may have sent of its term, once it has `entries`, `c` and `s`.
Sending(n, entries, c, s) ==
  {IF l.by = n /\ l.term = term[n] /\ l.inc = inc[n]
   THEN [l EXCEPT !.log = entries, !.commit = c, !.snap = s] ELSE l : l \in sent}

\* It writes an entry: the no-op of its term first, then what clients ask for (appendAsLeader).
AppendAsLeader(n) ==
  /\ Explored("AppendAsLeader", n)
  /\ role[n] = "Leader" /\ transferee[n] = None

  /\ log' = [log EXCEPT ![n] = Append(@, [term |-> term[n], by |-> n, inc |-> inc[n]])]
  /\ synced' = IF Explored("Unsynced", n) THEN synced ELSE [synced EXCEPT ![n] = End(n) + 1]
  /\ sent' = Sending(n, log'[n], commit[n], snap[n])
  /\ UNCHANGED <<term, vote, refill, base, baseTerm, snap, electVars, indexVars, asks, truncates, acks,
                 transfers, inc, agreed>>

\* Only what is synchronized counts, for itself                                 \* CHECK OwnSync
OwnIndex(n) == synced[n]
\* and for its followers (Acknowledge).
Holders(n, i) ==
  {m \in Node : IF m = n THEN OwnIndex(n) >= i
                ELSE \E a \in acks : a.from = m /\ a.term = term[n] /\ a.index >= i}
\* A majority has it,                                                           \* CHECK CommitQuorum
IsHeld(n, i) == Quorum(Holders(n, i))
\* and it is of the leader's own term: else a later leader may lack it (Raft, 5.4.2).  \* CHECK CommitOwnTerm
MayCommit(n, i) == log[n][i].term = term[n]

\* The leader commits what a majority has (QuorumAckChecker).
CommitEntry(n) ==
  /\ role[n] = "Leader"
  /\ \E i \in (commit[n] + 1)..End(n) :
       /\ i > base[n] /\ IsHeld(n, i) /\ MayCommit(n, i)

       /\ commit' = [commit EXCEPT ![n] = i]
       /\ sent' = Sending(n, log[n], i, snap[n])
       /\ agreed' = Longer(agreed, Prefix(log[n], i))
  /\ UNCHANGED <<diskVars, electVars, same, applied, asks, truncates, acks, transfers, inc>>

\* ---- The log of a follower (EntryHandler) ----

\* Up to where m has what a leader has.
Matches(m, q) == {i \in base[m]..Min(End(m), Len(q)) : i = 0 \/ Has(m, i, q[i].term)}
\* The leader looks for the last such entry, not for the one before a whole term,  \* CHECK FastBackup
\* and goes on looking when it is told that there is none at that place.        \* CHECK B66
IsLastMatch(m, q, i) == i = MaxOf(Matches(m, q))

\* A follower that lost its place is compared again, whatever it had.           \* CHECK B65
MayCompare(m) == TRUE

\* m answers to COMPARE that it has entry i of its leader; the leader asks it to cut what is behind,
\* and says which term is to be there instead: an entry that it has not written yet will be of its own.
Compare(m) ==
  \E l \in sent :
    /\ IsOfLeader(m, l.by, l.term) /\ MayCompare(m)
    /\ \E i \in Matches(m, l.log) :
         /\ IsLastMatch(m, l.log, i) \/ Explored("EarlierMatch", m)
         /\ LET r == [from |-> l.by, to |-> m, term |-> l.term, index |-> i + 1,
                      entryTerm |-> IF i < Len(l.log) THEN l.log[i + 1].term ELSE l.term]
                Sends == i < End(m) \/ Explored("IdleTruncate", m)
            IN /\ i > same[m] \/ (Sends /\ r \notin truncates)

               /\ same' = [same EXCEPT ![m] = Max(@, i)]
               /\ truncates' = IF Sends THEN truncates \cup {r} ELSE truncates
    /\ UNCHANGED <<diskVars, electVars, commit, applied, asks, sent, acks, transfers, inc, agreed>>

\* Nothing is cut that is as the leader has it: a request may be late, or for an entry too far
\* before.                                                                      \* CHECK LateTruncate
MayCut(m, r) == log[m][r.index].term # r.entryTerm

\* What was cut is not on the disk any more.                                    \* CHECK TruncationDurable
SyncedAfterCut(m, i) == Min(synced[m], i)

\* m cuts what its leader has not (TRUNCATE).
Truncate(m) ==
  \E r \in truncates :
    /\ r.to = m /\ IsOfLeader(m, r.from, r.term)
    /\ r.index \in (base[m] + 1)..End(m) /\ MayCut(m, r)

    /\ log' = [log EXCEPT ![m] = Prefix(@, r.index - 1)]
    /\ synced' = [synced EXCEPT ![m] = SyncedAfterCut(m, r.index - 1)]
    /\ same' = [same EXCEPT ![m] = Min(@, r.index - 1)]
    /\ UNCHANGED <<term, vote, refill, base, baseTerm, snap, electVars, commit, applied, messageVars, inc,
                   agreed>>

\* An entry goes behind a log that is the leader's, and not merely as long.     \* CHECK ComparedFirst
MayAppend(m) == same[m] = End(m)

\* m appends an entry of its leader (APPEND, appendAsFollower).
AppendAsFollower(m) ==
  \E l \in sent :
    /\ IsOfLeader(m, l.by, l.term)
    /\ End(m) < Len(l.log) /\ MayAppend(m)

    /\ log' = [log EXCEPT ![m] = Append(@, l.log[End(m) + 1])]
    /\ synced' = IF Explored("Unsynced", m) THEN synced ELSE [synced EXCEPT ![m] = End(m) + 1]
    /\ same' = [same EXCEPT ![m] = End(m) + 1]
    /\ UNCHANGED <<term, vote, refill, base, baseTerm, snap, electVars, commit, applied, messageVars, inc, agreed>>

\* m synchronizes its log, of whatever role it is.
Sync(m) ==
  /\ synced[m] < End(m)

  /\ synced' = [synced EXCEPT ![m] = End(m)]
  /\ UNCHANGED <<term, vote, refill, log, base, baseTerm, snap, electVars, indexVars, messageVars, inc, agreed>>

\* m acknowledges entries of its leader, those that it had before included.
Acknowledge(m) ==
  /\ role[m] = "Follower"
  /\ AckIndex(m) > 0
  /\ ~\E a \in acks : a.from = m /\ a.term = term[m] /\ a.index >= AckIndex(m)

  /\ acks' = {a \in acks : a.from # m \/ a.term # term[m]} \cup
               {[from |-> m, term |-> term[m], index |-> AckIndex(m)]}
  /\ UNCHANGED <<diskVars, electVars, indexVars, asks, sent, truncates, transfers, inc, agreed>>

\* Committed is what the leader has committed and the follower has of it: not all that the leader has
\* committed,                                                                   \* CHECK B61
\* and not what another leader wrote at its place,                              \* CHECK CommitSame
\* which is cut then, and would stay committed.                                  \* CHECK B62
CommitBound(m) == same[m]

\* m hears what its leader has committed (COMMIT, and along with other pushes).
LearnCommit(m) ==
  \E l \in sent :
    /\ IsOfLeader(m, l.by, l.term)
    /\ \E c \in (commit[m] + 1)..Min(l.commit, CommitBound(m)) :
         commit' = [commit EXCEPT ![m] = c]
    /\ UNCHANGED <<diskVars, electVars, same, applied, messageVars, inc, agreed>>

\* ---- The state machine and its snapshots (StateMachineCaller, SnapshotManager) ----

\* The next committed entry changes the state.
Apply(n) ==
  /\ Explored("Apply", n)
  /\ applied[n] < commit[n]
  /\ applied[n] + 1 \in (base[n] + 1)..End(n)

  /\ applied' = [applied EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<diskVars, electVars, same, commit, messageVars, inc, agreed>>

\* The state of n is on its disk, whole.
SaveSnapshot(n) ==
  /\ Explored("SaveSnapshot", n)
  /\ applied[n] > snap[n]

  /\ snap' = [snap EXCEPT ![n] = applied[n]]
  /\ sent' = Sending(n, log[n], commit[n], applied[n])
  /\ UNCHANGED <<term, vote, refill, log, synced, base, baseTerm, electVars, indexVars, asks, truncates, acks,
                 transfers, inc, agreed>>

\* The log goes up to the snapshot, not further.                                \* CHECK B68
CutTo(n) == snap[n]
\* The term of the last entry that is cut stays known.                          \* CHECK B59
BaseTermOfCut(n, i) == TermAt(n, i)

CutLog(n) ==
  /\ CutTo(n) \in (base[n] + 1)..End(n)

  /\ base' = [base EXCEPT ![n] = CutTo(n)]
  /\ baseTerm' = [baseTerm EXCEPT ![n] = BaseTermOfCut(n, CutTo(n))]
  /\ UNCHANGED <<term, vote, refill, log, synced, snap, electVars, indexVars, messageVars, inc, agreed>>

\* A snapshot that is behind what the node knows is late.                       \* CHECK InstallFresh
IsFresh(m, i) == i > commit[m]
\* What is in a snapshot is committed.                                          \* CHECK B58
CommitAfterInstall(m, i) == Max(commit[m], i)
\* There is such a request at all.                                              \* CHECK B54
MayInstall(m) == TRUE

\* m loads a snapshot of its leader in place of its state, and of its log, unless that has the last
\* entry of the snapshot.
InstallSnapshot(m) ==
  \E l \in sent :
    /\ IsOfLeader(m, l.by, l.term) /\ MayInstall(m)
    /\ \E i \in 1..l.snap :
         /\ IsFresh(m, i)

         /\ snap' = [snap EXCEPT ![m] = i] /\ applied' = [applied EXCEPT ![m] = i]
         /\ commit' = [commit EXCEPT ![m] = CommitAfterInstall(m, i)]
         /\ IF Has(m, i, l.log[i].term) THEN UNCHANGED <<log, synced>>
            ELSE /\ log' = [log EXCEPT ![m] = Prefix(l.log, i)]
                 /\ synced' = [synced EXCEPT ![m] = i]
         /\ base' = [base EXCEPT ![m] = Max(@, i)]
         /\ baseTerm' = [baseTerm EXCEPT ![m] = IF i > base[m] THEN l.log[i].term ELSE @]
         /\ same' = [same EXCEPT ![m] = Max(@, i)]
    /\ UNCHANGED <<term, vote, refill, electVars, messageVars, inc, agreed>>

\* ---- Power cuts and damage ----

\* The vote is on the disk before it is answered.                               \* CHECK B71
VoteAfterCrash(n) == vote[n]
\* Who may have led loses no entry and leads on: it goes to a term of its own.   \* CHECK SameTerm
NextAfterCrash(n) == TRUE

\* What is in a snapshot is not lost with the entries; the log goes on behind it.  \* CHECK SnapshotStays
Left(n, k) == Max(k, snap[n])

\* n starts again with k entries of its log.
Restart(n, k) ==
  /\ log' = [log EXCEPT ![n] = Prefix(@, Left(n, k))] /\ synced' = [synced EXCEPT ![n] = Left(n, k)]
  /\ base' = [base EXCEPT ![n] = IF k < Left(n, k) THEN Left(n, k) ELSE @]
  /\ baseTerm' = [baseTerm EXCEPT ![n] = IF k < Left(n, k) THEN TermAt(n, Left(n, k)) ELSE @]
  /\ role' = [role EXCEPT ![n] = "Candidate"] /\ leader' = [leader EXCEPT ![n] = None]
  /\ known' = [known EXCEPT ![n] = 0] /\ raise' = [raise EXCEPT ![n] = FALSE]
  /\ next' = [next EXCEPT ![n] = NextAfterCrash(n)] /\ round' = [round EXCEPT ![n] = NoRound]
  /\ taking' = [taking EXCEPT ![n] = 0] /\ transferee' = [transferee EXCEPT ![n] = None]
  /\ same' = [same EXCEPT ![n] = 0]
  /\ commit' = [commit EXCEPT ![n] = snap[n]] /\ applied' = [applied EXCEPT ![n] = snap[n]]
  /\ inc' = [inc EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<snap, messageVars, agreed>>

\* The power of n is cut; k entries of its log are left.
Crash(n, k) ==
  /\ Explored("Crash", n)
  /\ k \in synced[n]..End(n)

  /\ vote' = [vote EXCEPT ![n] = VoteAfterCrash(n)]
  /\ Restart(n, k)
  /\ UNCHANGED <<term, refill>>

\* An entry of the present term may come before one that it has acknowledged.   \* CHECK DiscardTerm
TermAfterDiscard(n) == term[n] + 1

\* The log of n is damaged in the middle: it is thrown away, or all of it but k entries, and its leader
\* sends it again.
Discard(n, k) ==
  /\ Explored("Discard", n)
  /\ k \in 0..End(n)

  /\ term' = [term EXCEPT ![n] = TermAfterDiscard(n)] /\ refill' = [refill EXCEPT ![n] = TermAfterDiscard(n)]
  /\ vote' = [vote EXCEPT ![n] = IF TermAfterDiscard(n) = term[n] THEN @ ELSE None]
  /\ Restart(n, k)

-----------------------------------------------------------------------------
\* What is said, and what is missed (DLedgerMessages).
Speaking == {n \in Node : Explored("Says", n)}
Says(n) == SaysElse(n) \/ \E l \in Node, t, i, e, a \in Nat, r \in Results : AnswerVote(n, l, t, i, e, r, a)

Next ==
  \/ \E n \in Node :
       \/ IncreaseTerm(n) \/ AskVotes(n) \/ HandleVote(n) \/ ParseVotes(n)
       \/ HandleHeartbeat(n) \/ BecomeCandidate(n)
       \/ TakeLeadership(n) \/ GoOnLeading(n)
       \/ AppendAsLeader(n) \/ CommitEntry(n)
       \/ Compare(n) \/ Truncate(n) \/ AppendAsFollower(n) \/ Sync(n) \/ Acknowledge(n)
       \/ LearnCommit(n) \/ Apply(n)
       \/ SaveSnapshot(n) \/ CutLog(n) \/ InstallSnapshot(n)
       \/ \E k \in Nat : Crash(n, k) \/ Discard(n, k)
  \/ \E n, m \in Node : HearTerm(n, m) \/ TransferLeadership(n, m)
  \/ \E n \in Speaking : Says(n)

Spec == Init /\ [][Next]_vars
=============================================================================

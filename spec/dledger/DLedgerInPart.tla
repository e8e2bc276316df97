---------------------------- MODULE DLedgerInPart ----------------------------
(* A group of DLedger of which some members are looked at, and the others are not: of these there is
   what came from them.

   The members that are looked at take the steps of DLedger, word for word.  A step of all others is
   Unseen: they may have any state, and send what DLedger lets anybody send who is in it.  So every
   behaviour of DLedger is one of this module, whoever is not looked at (TLC checks that:
   MCDLedgerInPart); not the other way round, for nobody asks whether one that is not looked at could
   do what it did.
   Used for: what members of ours wrote in one group with servers of released DLedger.           *)
EXTENDS DLedgerState

CONSTANT Hidden      \* the members that nobody looks at

ASSUME HiddenAssumption == Hidden \subseteq Node

Looked == Node \ Hidden

D == INSTANCE DLedger

-----------------------------------------------------------------------------
\* Nobody changes what a member that is looked at has, but for the answers to its request for votes.
KeepsLooked ==
  \A n \in Looked :
    /\ term'[n] = term[n] /\ vote'[n] = vote[n] /\ refill'[n] = refill[n] /\ log'[n] = log[n] /\ synced'[n] = synced[n]
    /\ base'[n] = base[n] /\ baseTerm'[n] = baseTerm[n] /\ snap'[n] = snap[n]
    /\ role'[n] = role[n] /\ leader'[n] = leader[n] /\ known'[n] = known[n]
    /\ raise'[n] = raise[n] /\ next'[n] = next[n] /\ taking'[n] = taking[n]
    /\ transferee'[n] = transferee[n] /\ same'[n] = same[n] /\ commit'[n] = commit[n]
    /\ applied'[n] = applied[n] /\ inc'[n] = inc[n]

\* An answer is of a member that is not looked at, to a candidate that waits for answers.
AnswersRounds ==
  \A n \in Looked : \A m \in Node :
    round'[n][m] # round[n][m] => m \in Hidden /\ round[n] # NoRound /\ round'[n][m] # NoAnswer

\* Terms never fall.
TermsGrow == \A n \in Hidden : term'[n] >= term[n]

\* What is sent is never taken back, and what comes is of a member that is not looked at.
AsksGrow == asks \subseteq asks' /\ \A a \in asks' \ asks : a.from \in Hidden
TransfersGrow == transfers \subseteq transfers' /\ \A r \in transfers' \ transfers : r.from \in Hidden
TruncatesGrow == truncates \subseteq truncates' /\ \A r \in truncates' \ truncates : r.to \in Hidden

\* A leader has more and more of its term, and is the only one of it.
GoesOn(l, k) ==
  /\ k.by = l.by /\ k.inc = l.inc /\ k.term = l.term
  /\ IsPrefix(l.log, k.log) /\ l.commit <= k.commit /\ l.snap <= k.snap
SentGrows ==
  /\ \A l \in sent : IF l.by \in Looked THEN l \in sent' ELSE \E k \in sent' : GoesOn(l, k)
  /\ \A k \in sent' \ sent :
       /\ k.by \in Hidden /\ k.commit <= Len(k.log) /\ k.snap <= k.commit
       /\ \A l \in sent : l.term = k.term => GoesOn(l, k)

\* Nobody acknowledges what the leader of the term does not have.
HasLed(t, i) == \E l \in sent' : l.term = t /\ i <= Len(l.log)
AcksGrow ==
  /\ \A a \in acks : \E b \in acks' : b.from = a.from /\ b.term = a.term /\ b.index >= a.index
  /\ \A a \in acks' \ acks : a.from \in Hidden /\ HasLed(a.term, a.index)

\* What was agreed on stays so, and becomes more by what a leader says.
AgreedGoesOn ==
  /\ IsPrefix(agreed, agreed')
  /\ agreed' # agreed => \E l \in sent' : l.by \in Hidden /\ agreed' = Prefix(l.log, l.commit)

\* Some members that are not looked at took a step.
Unseen ==
  /\ Hidden # {}
  /\ KeepsLooked /\ AnswersRounds /\ TermsGrow
  /\ AsksGrow /\ TransfersGrow /\ TruncatesGrow /\ SentGrows /\ AcksGrow /\ AgreedGoesOn

-----------------------------------------------------------------------------
\* The steps of a member that is looked at.
IncreaseTerm(n) == D!IncreaseTerm(n)
AskVotes(n) == D!AskVotes(n)
HandleVote(n) == D!HandleVote(n)
ParseVotes(n) == D!ParseVotes(n)
HandleHeartbeat(n) == D!HandleHeartbeat(n)
BecomeCandidate(n) == D!BecomeCandidate(n)
TakeLeadership(n) == D!TakeLeadership(n)
GoOnLeading(n) == D!GoOnLeading(n)
AppendAsLeader(n) == D!AppendAsLeader(n)
CommitEntry(n) == D!CommitEntry(n)
Compare(n) == D!Compare(n)
Truncate(n) == D!Truncate(n)
AppendAsFollower(n) == D!AppendAsFollower(n)
Sync(n) == D!Sync(n)
Acknowledge(n) == D!Acknowledge(n)
LearnCommit(n) == D!LearnCommit(n)
Apply(n) == D!Apply(n)
SaveSnapshot(n) == D!SaveSnapshot(n)
CutLog(n) == D!CutLog(n)
InstallSnapshot(n) == D!InstallSnapshot(n)
Crash(n, k) == D!Crash(n, k)
Discard(n, k) == D!Discard(n, k)
Unexplained(n) == D!Unexplained(n)
HearTerm(n, m) == D!HearTerm(n, m)
TransferLeadership(n, m) == D!TransferLeadership(n, m)

Next ==
  \/ \E n \in Looked :
       \/ IncreaseTerm(n) \/ AskVotes(n) \/ HandleVote(n) \/ ParseVotes(n)
       \/ HandleHeartbeat(n) \/ BecomeCandidate(n)
       \/ TakeLeadership(n) \/ GoOnLeading(n)
       \/ AppendAsLeader(n) \/ CommitEntry(n)
       \/ Compare(n) \/ Truncate(n) \/ AppendAsFollower(n) \/ Sync(n) \/ Acknowledge(n)
       \/ LearnCommit(n) \/ Apply(n)
       \/ SaveSnapshot(n) \/ CutLog(n) \/ InstallSnapshot(n)
       \/ \E k \in 0..Len(log[n]) : Crash(n, k) \/ Discard(n, k)
       \/ Unexplained(n)
       \/ \E m \in Node : HearTerm(n, m) \/ TransferLeadership(n, m)
  \/ Unseen

Spec == Init /\ [][Next]_vars
=============================================================================

----------------------- MODULE DLedgerInPartProperties -----------------------
(* What DLedger promises, as far as it speaks of members that are looked at and of what was sent.

   One that is not looked at has what nobody knows: in a trace its own variables are as in Init, but for
   what was seen of it, such as its log, when its files were read.                               *)
EXTENDS DLedgerInPart

P == INSTANCE DLedgerProperties

TypeOK == P!TypeOK
OneLeaderPerTerm == P!OneLeaderPerTerm
TermCatchUp == P!TermCatchUp
SyncedLeEnd == P!SyncedLeEnd
LeaderCompleteness == P!LeaderCompleteness
CommitLeEnd == P!CommitLeEnd
AppliedLeCommit == P!AppliedLeCommit
AppliedLeEnd == P!AppliedLeEnd
CommitAgreed == P!CommitAgreed
SnapCommitted == P!SnapCommitted
PrefixCovered == P!PrefixCovered
BoundaryTerm == P!BoundaryTerm
LoadContiguous == P!LoadContiguous

\* Else two logs with an entry in common differ before it.  The same as in DLedgerProperties, from one
\* entry to the one before: a judge of long logs has less to do.
RaftLogMatching ==
  \A n, m \in Node : \A i \in 1..Min(Len(log[n]), Len(log[m])) :
    log[n][i].term = log[m][i].term =>
      /\ log[n][i] = log[m][i]
      /\ i = 1 \/ log[n][i - 1] = log[m][i - 1]

\* Else a majority does not have what was agreed on: one that is not looked at may have it, as long as
\* its log was not seen.
AgreedMayBeHeld ==
  D!Quorum({n \in Hidden : log[n] = <<>>}
           \cup {n \in Node : P!Keeps(n)})
\* Else a follower takes for the leader's what is not.
SameIsSo ==
  \A m \in Looked : role[m] = "Follower" =>
    \E l \in sent : l.by = leader[m] /\ l.term = term[m] /\ IsPrefix(Prefix(log[m], same[m]), l.log)
=============================================================================

----------------------------- MODULE MutRegister -----------------------------
(* The classic errors of reads: one operator each.  checks.toml says which operator of the spec each
   one replaces, and the property that must find it.                                             *)
EXTENDS MCRegister

\* The index is noted before the leader knows what was committed before its term.
OwnTermFirstKnowsCommitted(n) == TRUE
\* Any member answers from its own state.
LocalReadMayRead(n) == TRUE
LocalReadIsConfirmed(n, c) == TRUE
\* No heartbeats after the call: the leader takes itself for one, as with a lease whose clock drifts.
HeartbeatsIsConfirmed(n, c) == L!Leads(n) /\ term[n] = calls[c].term
\* It answers from what it has applied so far.
AppliedFirstHasApplied(n, c) == TRUE
\* What was applied at this index counts, whoever wrote it.
SameEntryIsEntryOf(n, c) == TRUE
\* What is in the leader's log is done.
AnswerAppliedIsDone(n, c) == TRUE
=============================================================================

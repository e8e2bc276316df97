---------------------------- MODULE MutLockQuorum ----------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says which
   operator of the spec each one replaces, and the property that must find it.
   B.. are entries of the museum of real bugs; the others are tags of `CHECK` in the spec.      *)
EXTENDS MCLockQuorum

\* B45: totalReplicas is 1 unless somebody configures it, so a single vote is a majority.
B45QuorumQuorum == 1
\* The broker that is asked finds itself among the members that it asks.
CountOnceEnough(yes) == yes # {} /\ Cardinality(yes) + 1 >= Quorum
\* B77, #7078: one member that cannot be asked fails the whole batch.
B77Answers(a) ==
  IF \E m \in asks : m.n = a.n /\ m.qs \subseteq a.qs THEN {} ELSE {q \in a.qs : Enough(a.yes[q])}

VoteOnceIsFree(r, q, c) == TRUE
\* B45: a broker forgets its votes at a restart, and votes at once.
B45RestartWaitAfterRestart == 0
\* A broker that has restarted never votes again.
WaitEndsWaitLeft(r, d) == wait[r]
RememberedLastReleased(old, n) == old
LateAskIsWanted(r, m, q) == TRUE

\* B45: who gets too few votes keeps those, and renews them.
B45PartialGivenBack(c, qs) == {}
\* A release that comes late takes the votes of a later attempt.
LateFreeIsOver(v, m) == TRUE
UnlockOwnIsOwn(v, m) == TRUE
LateAnswerInTime(a) == TRUE
\* B45: nothing keeps a lease from being longer than a vote.
B45LeaseLeaseAfterAnswer == LeaseLife + 1
\* A consumer that is refused goes on until its lease ends, as one without an answer does.
RefusedStopsAfterRefusal(c, q) == lease[c][q]
\* B46, #2621, #5465: the queue is locked, but its flag is not set when it is new.
B46MayProcess(c, q) == FALSE
=============================================================================

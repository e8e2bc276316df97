-------------------------- MODULE MutControllerGroup --------------------------
(* What DLedgerController does, and the guards without which a property falls: one operator each.
   checks.toml says which operators of the spec each one replaces, and the property that must find
   it.                                                                                           *)
EXTENDS MCControllerGroup

\* B36: a leader judges a request by what it has applied when the request comes, appends what it has
\* made of it, an event, and waits five seconds for it to be applied.  Then it goes on with the next
\* request, of which it judges by the same state if the event is not applied yet.
B36MayTake(n, r) ==
  LET c == RegisterOf(n)
  IN IF r.kind = "alter"
     THEN /\ r.set # c.sss /\ r.from = c.master /\ r.epoch = c.epoch /\ r.exp = c.sssEpoch
          /\ c.master \in r.set
     ELSE c.master # r.from /\ (c.sss = {} \/ r.from \in c.sss)
\* An event of an election says who is elected; what is answered to it has the next epochs.
B36Content(n, r) ==
  IF r.kind = "alter" THEN r
  ELSE [r EXCEPT !.epoch = RegisterOf(n).epoch, !.exp = RegisterOf(n).sssEpoch]
\* To what is refused there is no event.
B36MayBeDead(r) == {}
\* An event is applied as it is.
B36FromMaster(c, e) == TRUE
B36OfEpoch(c, e) == TRUE
B36OfSet(c, e) == TRUE
B36HasMaster(c, e) == TRUE
B36Electable(c, e) == TRUE
B36OfMissed(c, e) == TRUE
\* It is answered if it is applied within the five seconds, so before the leader goes on,
B36IsDone(k) ==
  applied[k.at] >= k.index /\ ~\E j \in calls : j.at = k.at /\ j.index > k.index
\* with what was made of it then.
B36AnswerTo(k) ==
  IF k.request.kind = "alter"
  THEN [master |-> k.request.from, epoch |-> k.request.epoch, sss |-> k.request.set,
        sssEpoch |-> k.request.exp + 1]
  ELSE [master |-> k.request.from, epoch |-> k.request.epoch + 1, sss |-> {k.request.from},
        sssEpoch |-> k.request.exp + 1]

\* The same without the five seconds: a leader judges when the request comes, all that is judged in the
\* spec, and waits as long as it takes, one request after the other.
NoTimeoutMayTake(n, r) ==
  /\ B36MayTake(n, r) /\ r.epoch = RegisterOf(n).epoch
  /\ ~\E k \in calls : k.at = n /\ k.term = term[n] /\ k.index > applied[n]

MasterEpochOfEpoch(c, e) == TRUE
SetEpochOfSet(c, e) == TRUE
HasMasterHasMaster(c, e) == TRUE
\* A node counts as alive whom it hears itself: a leader everybody, another node nobody.
OwnHeartbeatsIsAlive(n, e) == L!Leads(n)
\* A refusal changes nothing.
SpentEpochAfterRefusal(c) == c.sssEpoch
\* Who was a member when somebody asked is elected.
LateElectionElectable(c, e) == TRUE
\* An election that was needed once is done, whoever is master now.
MissedOfMissed(c, e) == TRUE
\* A leader serves as soon as it is elected.
OwnNoopHasOwnNoop(n) == TRUE
\* The answer comes when the entry is written, from what the leader has applied so far.
AnswerAppliedIsDone(k) == TRUE
AnswerAppliedAnswerTo(k) == Judge(k.at, RegisterOf(k.at), log[k.at][k.index])
\* What was applied at this index counts, whoever wrote it.
SameEntryIsItsEntry(k) == TRUE
=============================================================================

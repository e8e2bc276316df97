---------------------- MODULE ControllerGroupProperties ----------------------
(* What ControllerGroup promises: invariants, each with what happens else; refinement of the single
   controller; situations that must be reachable.                                                *)
EXTENDS ControllerGroup

TypeOK ==
  /\ agreed \in Seq(Entry) /\ newest \in Nat
  /\ term \in [Node -> Nat] /\ log \in [Node -> Seq(Entry)]
  /\ commit \in [Node -> Nat] /\ applied \in [Node -> Nat]
  /\ \A n \in Node : results[n] \in Seq(Register) /\ Len(results[n]) = applied[n]
  /\ \A r \in sent : r \in Request
  /\ \A k \in calls :
       k.at \in Node /\ k.term \in Nat /\ k.index \in Nat /\ k.request \in Request
       /\ \A c \in k.answer : c \in Register

-----------------------------------------------------------------------------
\* The entries that some node has applied, with their results: what they say is decided.
History == CHOOSE h \in {results[n] : n \in Node} :   \* CHOOSE ANY
             \A n \in Node : Len(h) >= Len(results[n])
Decided == Prefix(agreed, Len(History))
After(i) == IF i = 0 THEN Empty ELSE History[i]
Ctl == After(Len(History))
\* An entry that has changed something.
Counts(i) == After(i) # After(i - 1)
RequestOf(e) == [kind |-> e.kind, from |-> e.from, epoch |-> e.epoch, exp |-> e.exp, set |-> e.set]
\* What each decision about the set has made of it.
Views ==
  LET Of(c) == [master |-> c.master, epoch |-> c.epoch, sss |-> c.sss]
  IN [v \in 1..Ctl.sssEpoch |-> Of(History[MinOf({i \in DOMAIN History : History[i].sssEpoch = v})])]

\* ---- Invariants: structure ----

\* Else state machines do not see one log,
AppliedAgreed == L!AppliedAgreed
\* or do not make the same of it.
SameResults ==
  \A m, n \in Node : IsPrefix(results[m], results[n]) \/ IsPrefix(results[n], results[m])

\* Else a leader lets somebody be elected whom it takes for a member, and looks for a master that is
\* none any more.
ServesKnowing ==
  \A n \in Node : Serves(n) =>
    \A i \in DOMAIN agreed : agreed[i].term < term[n] => i <= applied[n]

\* ---- Invariants: the register ----

\* Else nobody knows who may change the set.
MasterInSSS == Ctl.master # None => Ctl.master \in Ctl.sss

\* Else two brokers write different messages under one masterEpoch.
OneMasterPerEpoch ==
  \A i, j \in DOMAIN History :
    History[i].epoch = History[j].epoch => History[i].master = History[j].master

\* Else a copy of a request, which a client sent that had heard nothing, undoes what came after it.
CountsOnce ==
  \A i, j \in DOMAIN Decided :
    i < j /\ Counts(i) /\ Counts(j) => RequestOf(Decided[i]) # RequestOf(Decided[j])

\* Else a request of the past changes the set of the present.
AlterFenced ==
  [][Ctl'.sss # Ctl.sss /\ Ctl'.epoch = Ctl.epoch =>
       \E r \in sent :
         /\ r.kind = "alter" /\ r.from = Ctl.master /\ r.epoch = Ctl.epoch /\ r.exp = Ctl.sssEpoch
         /\ Ctl.master \in r.set /\ r.set = Ctl'.sss]_vars

\* Else a broker is master that left the set, or one is replaced because its predecessor was missed.
ElectFenced ==
  [][Ctl'.epoch # Ctl.epoch =>
       \E r \in sent :
         /\ r.kind = "elect" /\ r.from = Ctl'.master /\ r.epoch = Ctl.epoch
         /\ Ctl.sss = {} \/ r.from \in Ctl.sss]_vars

\* ---- Invariants: answers ----

\* Else a broker hears what the group has not decided.
AnswerAgreed ==
  \A k \in calls : k.answer # {} =>
    /\ k.index \in DOMAIN Decided /\ RequestOf(Decided[k.index]) = k.request
    /\ k.answer = {History[k.index]}

\* Else a master never learns that its request was refused, and waits for it for ever.
AnswerDecides ==
  \A k \in calls : \A c \in k.answer : k.request.kind = "alter" => c.sssEpoch > k.request.exp

\* ---- Refinement ----

\* The nodes together are the controller that ReplicaGroup assumes.  A request is decided when the
\* first node applies it.
SC == INSTANCE SingleController WITH
        ctl <- Ctl,
        views <- Views,
        alters <- {r \in sent : r.kind = "alter"}
Refinement == SC!Spec

RL == INSTANCE ReplicatedLog WITH seen <- [n \in Node |-> Prefix(log[n], applied[n])]
OnReplicatedLog == RL!Spec

-----------------------------------------------------------------------------
\* ---- Witnesses: situations which must be reachable ----

NoLateAnswer ==             \* a leader that was replaced has an answer to give, and a right one
  \A k \in calls : k.term < newest => ~MayAnswer(k)
NoLostAnswer ==             \* a request was done, and who took it leads no more and does not know
  \A k \in calls :
    k.answer = {} /\ term[k.at] # k.term /\ k.index \in DOMAIN Decided =>
      applied[k.at] >= k.index \/ RequestOf(Decided[k.index]) # k.request \/ ~Counts(k.index)
NoOrphan ==                 \* a request waits at a leader that was replaced, and is not agreed on
  \A k \in calls : k.answer = {} /\ k.term < newest => k.index \in DOMAIN agreed
NoOvertaken ==              \* a request fits what its leader has applied, but not what comes before it
  \A k \in calls :
    k.request.kind = "alter" /\ k.term = term[k.at] /\ k.index = applied[k.at] + 2
    /\ k.index <= commit[k.at] =>
      LET Granted(c) == Alter(k.at, c, log[k.at][k.index]) # c
          now == RegisterOf(k.at)
      IN Granted(now) => Granted(Judge(k.at, now, log[k.at][k.index - 1]))
NoCopy ==                   \* a copy of a request is applied
  \A i, j \in DOMAIN Decided :
    i < j /\ Decided[i].kind # "noop" => RequestOf(Decided[i]) # RequestOf(Decided[j])
NoRefusal ==                \* a request is refused, and its set epoch is spent
  \A i \in DOMAIN Decided : Counts(i) => After(i).sss # After(i - 1).sss
NoOldLeader ==              \* a leader that was replaced has less applied than was decided, and serves
  \A n \in Node : Serves(n) => term[n] = newest \/ RegisterOf(n) = Ctl

-----------------------------------------------------------------------------
THEOREM Spec => [](TypeOK /\ MasterInSSS /\ OneMasterPerEpoch /\ CountsOnce /\ AnswerAgreed)
=============================================================================

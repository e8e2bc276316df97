----------------------------- MODULE Assignments -----------------------------
(* Workers and tasks: sets of functions, SUBSET, UNION, and the operators of sets. *)
EXTENDS Naturals, FiniteSets

CONSTANTS Worker, Task

VARIABLES owner, done

TypeOK ==
  /\ owner \in [Task -> SUBSET Worker]
  /\ done \in SUBSET Task
  /\ UNION {owner[t] : t \in Task} \subseteq Worker

Init == owner \in [Task -> {{}, Worker}] /\ done = {}

Free == {t \in Task : owner[t] = {}}
Busy == UNION {owner[t] : t \in Task \ done}

Take(w) ==
  /\ w \notin Busy
  /\ \E t \in Task \ done : owner' = [owner EXCEPT ![t] = @ \cup {w}]
  /\ UNCHANGED done

Finish(t) ==
  /\ t \notin done /\ Cardinality(owner[t]) >= 2
  /\ done' = done \union {t}
  /\ owner' = [owner EXCEPT ![t] = {}]

Reassign == done = {} /\ owner' \in [Task -> {{w} : w \in Worker}] /\ UNCHANGED done

Forget ==
  /\ Free # {} /\ done # {}
  /\ \E part \in SUBSET done : part # {} /\ done' = done \ part
  /\ owner' = [t \in Task |-> owner[t] \cap Busy]

Next == (\E w \in Worker : Take(w)) \/ (\E t \in Task : Finish(t)) \/ Reassign \/ Forget
==============================================================================

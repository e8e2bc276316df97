--------------------------------- MODULE Maps --------------------------------
(* Functions whose domains change: :> and @@ of TLC, DOMAIN, the empty function. *)
EXTENDS Naturals, TLC, Sequences

VARIABLES map, order

Key == {"k1", "k2", "k3"}

TypeOK ==
  /\ DOMAIN map \subseteq Key
  /\ \A k \in DOMAIN map : map[k] \in 1..2
  /\ \E p \in Permutations(Key) : p = [k \in Key |-> k]
  /\ SortSeq(order, <) \in Seq(1..3)

Init == map = <<>> /\ order = <<3, 1, 2>>

Put(k, v) == map' = (k :> v) @@ map /\ UNCHANGED order
Default(k, v) == k \notin DOMAIN map /\ map' = map @@ (k :> v) /\ UNCHANGED order
Remove(k) ==
  /\ k \in DOMAIN map
  /\ map' = [j \in DOMAIN map \ {k} |-> map[j]]
  /\ UNCHANGED order
Sort == order' = SortSeq(order, LAMBDA a, b : a < b) /\ order' # order /\ UNCHANGED map
Shuffle == DOMAIN map = {} /\ order = <<1, 2, 3>> /\ order' = <<2, 3, 1>> /\ UNCHANGED map
Check == Assert(Len(order) = 3, "never") /\ order[1] = 2 /\ map' = <<>> /\ order' = <<1, 2, 3>>

Next ==
  \/ \E k \in Key, v \in 1..2 : Put(k, v)
  \/ \E k \in Key : Default(k, 2) \/ Remove(k)
  \/ Sort
  \/ Shuffle
  \/ Check
==============================================================================

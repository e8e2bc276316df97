--------------------------------- MODULE Sieve -------------------------------
(* Sets made of sets: filters, images of several variables, UNION, SUBSET SUBSET, Cardinality. *)
EXTENDS Naturals, FiniteSets

VARIABLES pool, groups

TypeOK ==
  /\ pool \subseteq 1..6
  /\ groups \in SUBSET SUBSET (1..3)
  /\ IsFiniteSet(groups)
  /\ Cardinality(groups) <= 4

Init == pool = 2..4 /\ groups = {{}}

Products == {i * j : i \in pool, j \in pool \cap {2, 3}}

Multiply == pool' = {k \in Products \cup pool : k <= 6} /\ UNCHANGED groups
Strike(k) ==
  /\ k \in pool
  /\ pool' = {m \in pool : m = k \/ m % k # 0} \cup {1}
  /\ UNCHANGED groups
Group ==
  /\ Cardinality(groups) < 4
  /\ \E g \in SUBSET (pool \cap 1..3) : g \notin groups /\ groups' = groups \cup {g}
  /\ pool' = pool
Flatten ==
  /\ Cardinality(pool) < 6
  /\ groups' = {UNION groups}
  /\ pool' = {CHOOSE k \in 1..6 : k = Cardinality(pool) + 1} \cup UNION groups
  /\ \A g, h \in groups : g \subseteq h \/ h \subseteq g
Pairs ==
  /\ groups # {{}}
  /\ groups' = {{x, y} : <<x, y>> \in {<<1, 2>>, <<2, 2>>}}
  /\ pool' = {Cardinality(s) + 1 : s \in SUBSET {x \in groups : x # {}}}

Next == Multiply \/ (\E k \in 2..3 : Strike(k)) \/ Group \/ Flatten \/ Pairs
==============================================================================

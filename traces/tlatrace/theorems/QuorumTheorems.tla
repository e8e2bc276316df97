---- MODULE QuorumTheorems ----
\* The names that proofs cite: nothing is claimed here, and no model checker looks at them.
EXTENDS Quorum, Integers, FiniteSets

THEOREM QuorumsIntersect == TRUE
THEOREM QuorumSuperset == TRUE
THEOREM MajoritiesQuorumSystem == TRUE
====

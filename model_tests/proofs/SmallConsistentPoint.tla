------------------------ MODULE SmallConsistentPoint ------------------------
(* What the theorem ConsistentPoint assumes and claims, in the states of the small model.        *)
EXTENDS MCEpochTruncation, ConsistentPointTheorem
=============================================================================

------------------------------- MODULE MCShapes ------------------------------
(* What stands for the constants and definitions of Shapes. *)
EXTENDS Shapes

MCNat == 0..9
MCLimit == 9
MCBetter(a, b) == a > b /\ a % 2 = 0
MCGrow(n) == n + 3
MCAllowed(n) == n # 7
MCEnds == {0, MCLimit}
==============================================================================

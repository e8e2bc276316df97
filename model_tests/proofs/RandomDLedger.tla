---------------------------- MODULE RandomDLedger ----------------------------
(* Walks: all that a finite model explores, and requests as they may be late.                    *)
EXTENDS MCDLedger

Walked(action, n) == action \in {"EarlierMatch", "IdleTruncate"} \/ Bounded(action, n)
=============================================================================

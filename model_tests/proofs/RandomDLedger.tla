---------------------------- MODULE RandomDLedger ----------------------------
(* Walks: all that a finite model explores, requests as they may be late, logs that are thrown away. *)
EXTENDS MCDLedger

Walked(action, n) ==
  CASE action \in {"EarlierMatch", "IdleTruncate"} -> TRUE
    [] action = "Discard" -> Crashes < MaxCrash /\ TermAfterDiscard(n) <= MaxTerm
    [] OTHER -> Bounded(action, n)
=============================================================================

-------------------------------- MODULE Folds --------------------------------
(* Folding a set, with an operator that says which element comes next.        *)
(* TLC has no Java for this module.                                           *)

(* op(f(a), op(f(b), ... base)): `choose` takes a of S, then b of S without   *)
(* a, and so on.                                                              *)
MapThenFoldSet(op(_, _), base, f(_), choose(_), S) ==
  LET of[left \in SUBSET S] ==
        IF left = {}
        THEN base
        ELSE LET taken == choose(left) IN op(f(taken), of[left \ {taken}])
  IN  of[S]
==============================================================================

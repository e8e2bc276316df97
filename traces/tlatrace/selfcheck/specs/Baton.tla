-------------------------------- MODULE Baton --------------------------------
(* What is handed on in `Relay`; the configuration there replaces its definition of Size. *)
EXTENDS Naturals

CONSTANT Runners
VARIABLE holder

Size == 1
Ahead(n) == (n + Size) % Runners
Pass == holder' = Ahead(holder)
==============================================================================

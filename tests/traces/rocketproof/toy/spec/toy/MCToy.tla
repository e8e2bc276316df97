-------------------------------- MODULE MCToy --------------------------------
(* Finite models of Toy. *)
EXTENDS Toy

CONSTANT MaxSent   \* last message of the master

Bounded(action, s) == action = "Send" => acked[s] < MaxSent
=============================================================================

------------------------------- MODULE MCRoute -------------------------------
(* Finite models of Route: what they explore. *)
EXTENDS RouteProperties, TLC

CONSTANTS
  MaxEpoch,      \* masters, one after the other
  MaxChannels,   \* connections of each broker
  MaxWaiting     \* registrations that are under way, and removals that are decided

Bounded(action, x) ==
  CASE action = "Elect" -> Len(elected) < MaxEpoch
    [] action \in {"Start", "Reconnect"} -> channel[x] < MaxChannels
    [] action = "Register" -> Cardinality(regs) < MaxWaiting
    [] action = "Decide" -> Cardinality(unregs) < MaxWaiting
    [] action = "Stop" -> x[2] => Cardinality(unregs) < MaxWaiting
    [] OTHER -> TRUE

\* Nobody asks: nobody serves.
Quiet(action, x) == action # "Poll" /\ Bounded(action, x)

\* For liveness: nobody is taken for gone who runs, and whose channel is open.
Steady(action, x) ==
  CASE action = "Decide" -> IsGone(x[1], x[2]) /\ Bounded(action, x)
    [] OTHER -> Bounded(action, x)
=============================================================================

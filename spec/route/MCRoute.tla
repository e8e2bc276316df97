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
    [] action = "Register" -> Cardinality(regs) < MaxWaiting /\ EntryOf(x[1]) \notin table[x[2]]
    [] action = "Poll" ->
         /\ up[x[1]]
         /\ table[x[2]] # {}
         /\ minId[x[1]] # MinOf(Ids(table[x[2]]))
         /\ \A m \in notes : m.n # x[2] \/ m.b # x[1]
    [] action = "ReceiveNote" -> ~x[3]
    [] action \in {"Restart", "Says"} -> FALSE
    [] action = "Decide" -> Cardinality(unregs) < MaxWaiting
    [] action = "Stop" -> x[2] => Cardinality(unregs) < MaxWaiting
    [] OTHER -> TRUE

\* Nobody asks: nobody serves.
Quiet(action, x) == action # "Poll" /\ Bounded(action, x)

\* Nobody asks, and name servers start again.
Restarting(action, x) ==
  IF action = "Restart" THEN table[x] # {} ELSE Quiet(action, x)

\* For liveness: nobody is taken for gone who runs, and whose channel is open.
Steady(action, x) ==
  CASE action = "Decide" -> IsGone(x[1], x[2]) /\ Bounded(action, x)
    [] OTHER -> Bounded(action, x)
=============================================================================

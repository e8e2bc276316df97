----------------------------- MODULE MCPreOnline -----------------------------
(* Finite models of PreOnline: what they explore; and the rule of the code, which compares the versions
   of two tables.                                                                                 *)
EXTENDS PreOnlineProperties, TLC

CONSTANTS
  MaxOffset      \* of each queue

Bounded(action, x) ==
  CASE action = "Commit" -> table[x[1]][x[2]] < MaxOffset
    [] OTHER -> TRUE

\* Connections hold, and nobody is taken for gone who is not.
Quiet(action, x) ==
  CASE action \in {"Disconnect", "Forget"} -> FALSE
    [] action = "Remove" -> IsGone(x)
    [] OTHER -> Bounded(action, x)

\* What slaves do among themselves and for clients makes no difference to whom the master asks.
Asking(action, x) == action \notin {"Hear", "Synchronize"} /\ Bounded(action, x)

-----------------------------------------------------------------------------
\* ---- The rule of the code ----

\* A table is taken whose version is larger, or the same.                  \* CHECK Ties
IsTaken(s) == version[s] >= version[Master]
ByVersion(s) == IF IsTaken(s) THEN Put(table[Master], table[s]) ELSE table[Master]

\* What a broker has is on its disk when it stops.
IsSaved(b) == saved[b] = [table |-> table[b], version |-> version[b]]
\* The slaves have all of the master's that is gone, and they alone have more after that.
HasAll(s) == table[s] = table[Master]
SlavesMove(action, x) ==
  CASE action = "Commit" -> (x[1] \in Slave => ~up[Master]) /\ Bounded(action, x)
    [] action = "Stop" ->
         IF x = Master THEN \A s \in Slave : HasAll(s) /\ version[s] = version[Master]
         ELSE IsSaved(x)
    [] OTHER -> Quiet(action, x)
\* And they do not stop.
SlavesStay(action, x) ==
  IF action = "Stop" THEN x = Master /\ \A s \in Slave : HasAll(s) ELSE SlavesMove(action, x)

\* The master alone has more than it had, and its slaves are always there to be asked.
MasterMoves(action, x) ==
  CASE action = "Commit" -> x[1] = Master /\ Bounded(action, x)
    [] action = "Stop" -> x = Master
    [] OTHER -> Quiet(action, x)
\* They may be gone when the master comes back.
MasterMovesAlone(action, x) ==
  IF action = "Stop" THEN IsSaved(x) ELSE MasterMoves(action, x)
=============================================================================

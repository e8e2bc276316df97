------------------------------- MODULE MCEscape -------------------------------
(* Finite models of Escape: what they explore. *)
EXTENDS EscapeProperties, TLC

\* Which master comes first does not matter.
AnyOrder ==
  CHOOSE pairs \in SUBSET (Master \X Master) :
    \A m, n \in Master : m # n => (<<m, n>> \in pairs) # (<<n, m>> \in pairs)

\* It knows all masters at first; what it may know then it comes to know.
AllKnown == {Master}

Bounded(action, x) ==
  CASE action = "PutHere" -> MayPutHere(x) /\ x \notin own
    [] action = "Missed" -> FALSE
    [] OTHER -> TRUE

\* Masters do not die, and the slave knows them.
Calm(action, x) == action \notin {"Die", "Return", "LearnRoute"} /\ Bounded(action, x)

\* For liveness: the slave does not stop, so it need not write down what it has passed.
Steady(action, x) == action \notin {"Stop", "Save"} /\ Bounded(action, x)
===============================================================================

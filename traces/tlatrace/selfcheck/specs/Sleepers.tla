------------------------------- MODULE Sleepers ------------------------------
(* Steps that change nothing, states without a next one, and the same step by several actions. *)
EXTENDS Naturals

CONSTANT Sleeper

VARIABLES state, night

Init == state = [s \in Sleeper |-> "awake"] /\ night = 0

Nod(s) == state[s] = "awake" /\ state' = [state EXCEPT ![s] = "dozing"] /\ UNCHANGED night
Sleep(s) == state[s] = "dozing" /\ state' = [state EXCEPT ![s] = "asleep"] /\ UNCHANGED night
Wake(s) == state[s] # "awake" /\ night < 2 /\ state' = [state EXCEPT ![s] = "awake"]
           /\ night' = night + 1
Start(s) == state[s] = "dozing" /\ night < 2 /\ state' = [state EXCEPT ![s] = "awake"]
            /\ night' = night + 1
Snore == (\E s \in Sleeper : state[s] = "asleep") /\ UNCHANGED <<state, night>>
Turn == night = 1 /\ state' = state /\ night' = night

Next ==
  \/ \E s \in Sleeper : Nod(s) \/ Sleep(s) \/ Wake(s)
  \/ \E s \in Sleeper : Start(s)
  \/ night < 2 /\ Snore
  \/ Turn

Spec == Init /\ [][Next]_<<state, night>>
==============================================================================

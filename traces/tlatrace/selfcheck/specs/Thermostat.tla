----------------------------- MODULE Thermostat ------------------------------
(* CHOOSE with one witness, CASE with and without OTHER, IF inside and outside of actions. *)
EXTENDS Integers

VARIABLES heat, seen, mode

Degrees == -2..4

Max(S) == CHOOSE x \in S : \A y \in S : y <= x
Min(S) == CHOOSE x \in S : \A y \in S : x <= y

Mood ==
  CASE heat < 0 -> "cold"
    [] heat > 2 -> "hot"
    [] OTHER -> "fine"

TypeOK ==
  /\ heat \in Degrees /\ mode \in {"off", "on", "eco"}
  /\ seen # {} /\ seen \subseteq Degrees
  /\ Mood \in {"cold", "hot", "fine"}

Init == heat = 1 /\ seen = {1} /\ mode = "off"

Drift ==
  /\ IF mode = "on"
       THEN heat' = heat + 1
       ELSE IF mode = "eco" THEN heat' \in {heat, heat + 1} ELSE heat' = heat - 1
  /\ heat' \in Degrees
  /\ seen' = {Min(seen \cup {heat'}), Max(seen \cup {heat'})}
  /\ UNCHANGED mode

Switch ==
  CASE Mood = "cold" -> mode' = "on" /\ UNCHANGED <<heat, seen>>
    [] Mood = "hot" -> mode' = "off" /\ UNCHANGED <<heat, seen>>
    [] OTHER -> mode' \in {"eco", "off"} /\ seen' = {heat} /\ heat' = heat

Reset ==
  /\ mode' = CASE mode = "on" -> "off" [] mode \in {"off", "eco"} -> "on"
  /\ seen' = {CHOOSE d \in Degrees : d = heat}
  /\ UNCHANGED heat

Next == Drift \/ Switch \/ Reset
==============================================================================

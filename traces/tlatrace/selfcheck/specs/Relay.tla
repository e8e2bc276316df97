-------------------------------- MODULE Relay --------------------------------
(* A definition of an instanced module replaced by the configuration, in that module only. *)
EXTENDS Naturals

CONSTANT Runners

VARIABLES holder, other, laps

Size == 4                      \* another one of that name
Big == 2

First == INSTANCE Baton
Second == INSTANCE Baton WITH holder <- other, Runners <- Runners + 1

TypeOK == holder \in 0..Runners - 1 /\ other \in 0..Runners /\ laps \in 0..Size

Init == holder = 0 /\ other = 0 /\ laps = 0

Hand == First!Pass /\ UNCHANGED <<other, laps>>
Relax == Second!Pass /\ UNCHANGED <<holder, laps>>
Lap == /\ laps < Size
       /\ First!Ahead(holder) = Second!Ahead(other)
       /\ laps' = laps + 1
       /\ UNCHANGED <<holder, other>>

Next == Hand \/ Relax \/ Lap
==============================================================================

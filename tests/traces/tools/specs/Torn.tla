---- MODULE Torn ----
EXTENDS Naturals
VARIABLE x
Init == x = 
Next == x' = y
====

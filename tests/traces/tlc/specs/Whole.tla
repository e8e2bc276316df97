---- MODULE Whole ----
VARIABLE t
INSTANCE Clock WITH now <- t
Init == t = 0
Next == TNext
====

--------------------------------- MODULE Rows --------------------------------
(* A function over 1..n is a tuple; a function over 0..n is not; the empty one is <<>>. *)
EXTENDS Naturals, Sequences

VARIABLES row, shifted, kind

Kind(f) == IF DOMAIN f = {} THEN "empty" ELSE IF 0 \in DOMAIN f THEN "zero" ELSE "one"

TypeOK ==
  /\ kind = Kind(shifted)
  /\ Len(row) <= 2
  /\ row = [i \in 1..Len(row) |-> row[i]]
  /\ (row = <<>>) = (row = [i \in {} |-> i])

Init == row = <<>> /\ shifted = [i \in {} |-> 0] /\ kind = "empty"

Extend ==
  /\ Len(row) < 2
  /\ row' = [i \in 1..(Len(row) + 1) |-> IF i \in DOMAIN row THEN row[i] ELSE i]
  /\ UNCHANGED <<shifted, kind>>

ShiftDown ==
  /\ shifted' = [i \in {j - 1 : j \in DOMAIN row} |-> row[i + 1]]
  /\ kind' = Kind(shifted')
  /\ row' \in {<<>>, row}

ShiftUp ==
  /\ 0 \in DOMAIN shifted
  /\ shifted' = [i \in {j + 1 : j \in DOMAIN shifted} |-> shifted[i - 1]]
  /\ kind' = Kind(shifted')
  /\ UNCHANGED row

Copy ==
  /\ kind = "one" \/ kind = "empty"
  /\ row' = shifted
  /\ row' # row
  /\ UNCHANGED <<shifted, kind>>

Bump == \E i \in DOMAIN row : row[i] < 3 /\ row' = [row EXCEPT ![i] = @ + 1]
                              /\ UNCHANGED <<shifted, kind>>

Next == Extend \/ ShiftDown \/ ShiftUp \/ Copy \/ Bump
==============================================================================

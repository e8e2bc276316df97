-------------------------------- MODULE Words --------------------------------
(* States that are strings, with quotes and blanks; STRING; strings as keys and in tuples. *)
EXTENDS Naturals, Sequences

VARIABLES word, table, said

Known == {"", "a", "say \"no\"", "back\\slash", "TRUE"}

TypeOK ==
  /\ word \in STRING
  /\ word \in Known
  /\ DOMAIN table = Known
  /\ said \in Seq(STRING)

Init == word = "" /\ table = [w \in Known |-> 0] /\ said = <<>>

Say(w) ==
  /\ w # word
  /\ Len(said) < 2
  /\ word' = w
  /\ said' = Append(said, w)
  /\ UNCHANGED table

Count ==
  /\ said # <<>>
  /\ table["a"] + table[""] + table["TRUE"] < 2
  /\ table' = [table EXCEPT ![Head(said)] = 1, !["a"] = @ + 1]
  /\ said' = Tail(said)
  /\ UNCHANGED word

Forget == table[word] > 0 /\ table' = [table EXCEPT ![word] = 0] /\ word' = "" /\ UNCHANGED said

Next == (\E w \in Known : Say(w)) \/ Count \/ Forget
==============================================================================

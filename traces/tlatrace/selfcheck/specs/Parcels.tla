------------------------------- MODULE Parcels -------------------------------
(* Parcels on their way: records, record sets, nested fields, sets of records. *)
EXTENDS Naturals, FiniteSets

VARIABLES parcel, sent

Place == [city : {"A", "B"}, floor : 0..1]
Parcel == [id : 1..2, at : Place, open : BOOLEAN]

TypeOK ==
  /\ parcel \in Parcel
  /\ sent \subseteq [from : Place, id : 1..2]

Init ==
  /\ parcel = [id |-> 1, at |-> [city |-> "A", floor |-> 0], open |-> FALSE]
  /\ sent = {}

Open == ~parcel.open /\ parcel' = [parcel EXCEPT !.open = TRUE] /\ UNCHANGED sent

Climb ==
  /\ parcel' = [parcel EXCEPT !.at.floor = 1 - @, !.open = FALSE]
  /\ sent' = sent

Ship(city) ==
  /\ city # parcel.at.city
  /\ Cardinality(sent) < 3
  /\ parcel' = [parcel EXCEPT !["at"].city = city]
  /\ sent' = sent \cup {[from |-> parcel.at, id |-> parcel.id]}

Renumber ==
  /\ parcel.open
  /\ parcel' = [id |-> 3 - parcel.id, at |-> parcel.at, open |-> parcel.open]
  /\ sent' = {s \in sent : s.id # parcel.id}

Next == Open \/ Climb \/ (\E city \in {"A", "B"} : Ship(city)) \/ Renumber

Spec == Init /\ [][Next]_<<parcel, sent>>
==============================================================================

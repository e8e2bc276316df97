-------------------------------- MODULE Lamport ------------------------------
(* Mutual exclusion by tickets, with a symmetry that merges states; compared without it. *)
EXTENDS Naturals, TLC

CONSTANTS Proc, MaxTicket

VARIABLES pc, ticket

Highest == CHOOSE t \in {ticket[p] : p \in Proc} : \A p \in Proc : ticket[p] <= t
First(p) == \A q \in Proc \ {p} : ticket[q] = 0 \/ ticket[p] < ticket[q]

TypeOK ==
  /\ pc \in [Proc -> {"idle", "choosing", "waiting", "critical"}]
  /\ ticket \in [Proc -> 0..MaxTicket]
Exclusion == \A p, q \in Proc : pc[p] = "critical" /\ pc[q] = "critical" => p = q

Init == pc = [p \in Proc |-> "idle"] /\ ticket = [p \in Proc |-> 0]

Go(p, from, to) == pc[p] = from /\ pc' = [pc EXCEPT ![p] = to]

Want(p) == Go(p, "idle", "choosing") /\ UNCHANGED ticket
Draw(p) ==
  /\ Go(p, "choosing", "waiting")
  /\ Highest < MaxTicket
  /\ ticket' = [ticket EXCEPT ![p] = Highest + 1]
Enter(p) == Go(p, "waiting", "critical") /\ First(p) /\ UNCHANGED ticket
Exit(p) == Go(p, "critical", "idle") /\ ticket' = [ticket EXCEPT ![p] = 0]

Next == \E p \in Proc : Want(p) \/ Draw(p) \/ Enter(p) \/ Exit(p)
Spec == Init /\ [][Next]_<<pc, ticket>> /\ \A p \in Proc : WF_<<pc, ticket>>(Exit(p))
Symmetry == Permutations(Proc)
==============================================================================

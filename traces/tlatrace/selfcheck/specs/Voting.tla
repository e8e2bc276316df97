-------------------------------- MODULE Voting -------------------------------
(* Elections by majority, with messages in a set: what protocols look like. *)
EXTENDS Integers, FiniteSets

CONSTANTS Node, MaxTerm, None

VARIABLES term, vote, leader, msgs

vars == <<term, vote, leader, msgs>>

Quorum == {Q \in SUBSET Node : 2 * Cardinality(Q) > Cardinality(Node)}
Message == [type : {"ask"}, term : 1..MaxTerm, from : Node]
           \cup [type : {"yes"}, term : 1..MaxTerm, from : Node, to : Node]

TypeOK ==
  /\ term \in [Node -> 0..MaxTerm]
  /\ vote \in [Node -> Node \cup {None}]
  /\ leader \in [1..MaxTerm -> Node \cup {None}]
  /\ msgs \subseteq Message

Init ==
  /\ term = [n \in Node |-> 0]
  /\ vote = [n \in Node |-> None]
  /\ leader = [t \in 1..MaxTerm |-> None]
  /\ msgs = {}

Send(m) == msgs' = msgs \cup {m}

Ask(n) ==
  /\ term[n] < MaxTerm
  /\ term' = [term EXCEPT ![n] = @ + 1]
  /\ vote' = [vote EXCEPT ![n] = n]
  /\ Send([type |-> "ask", term |-> term[n] + 1, from |-> n])
  /\ UNCHANGED leader

Answer(n, m) ==
  /\ m.type = "ask" /\ m.from # n
  /\ \/ m.term > term[n]
     \/ m.term = term[n] /\ vote[n] \in {None, m.from}
  /\ term' = [term EXCEPT ![n] = m.term]
  /\ vote' = [vote EXCEPT ![n] = m.from]
  /\ Send([type |-> "yes", term |-> m.term, from |-> n, to |-> m.from])
  /\ UNCHANGED leader

Win(n) ==
  LET mine == {m \in msgs : m.type = "yes" /\ m.term = term[n] /\ m.to = n}
  IN  /\ term[n] > 0 /\ vote[n] = n /\ leader[term[n]] = None
      /\ {n} \cup {m.from : m \in mine} \in Quorum
      /\ leader' = [leader EXCEPT ![term[n]] = n]
      /\ UNCHANGED <<term, vote, msgs>>

Next ==
  \/ \E n \in Node : Ask(n) \/ Win(n)
  \/ \E n \in Node : \E m \in msgs : Answer(n, m)

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
==============================================================================

-------------------------------- MODULE Toy --------------------------------
(* A desk hands out numbered tickets; members are served, or leave. *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Person, Start

VARIABLES last, held, sent, log, state

None == [ticket |-> -1]

Init ==
  /\ last = Start
  /\ held = {}
  /\ sent = {}
  /\ log = <<0>>
  /\ state = [p \in Person |-> None]

\* A person takes a ticket.
Take(p) ==
  /\ state[p] = None

  /\ last' = last + 1
  /\ held' = held \cup {<<p, last'>>}
  /\ state' = [state EXCEPT ![p] = [ticket |-> last', served |-> FALSE]]
  /\ UNCHANGED <<sent, log>>

\* The desk calls somebody.
Call ==
  /\ \E m \in held : sent' = sent \cup {[to |-> m[1], number |-> m[2]]}
  /\ UNCHANGED <<last, held, log, state>>

Serve ==
  /\ \E c \in sent :
       /\ state[c.to] # None
       /\ state[c.to].ticket = c.number
       /\ state' = [state EXCEPT ![c.to].served = TRUE]
       /\ log' = Append(log, c.number)
  /\ UNCHANGED <<last, held, sent>>

Leave(P) ==
  /\ P # {}
  /\ held' = {m \in held : m[1] \notin P}
  /\ state' = [p \in Person |-> IF p \in P THEN None ELSE state[p]]
  /\ UNCHANGED <<last, sent, log>>

Skip(n) ==
  /\ n \in (last + 1)..(last + 3)
  /\ \A c \in sent : c.number < n
  /\ last' = n
  /\ UNCHANGED <<held, sent, log, state>>

Next ==
  \/ \E p \in Person : Take(p)
  \/ Call
  \/ Serve
  \/ \E P \in SUBSET Person : Leave(P)
  \/ \E n \in Nat : Skip(n)

\* Inductive together.
HeldOld == \A m \in held : m[2] <= last
SentOld == \A c \in sent : c.number <= last
LogOld == log[Len(log)] <= last /\ Len(log) > 0
StateHeld == \A p \in Person : state[p] # None => <<p, state[p].ticket>> \in held
HeldState == \A m \in held : state[m[1]] # None
Few == Cardinality(held) <= Cardinality(Person)

\* Not kept by Skip.
LastHeld == held = {} \/ \E m \in held : m[2] = last
\* Says something of the size of `sent`: a part of it is not enough.
SentSmall == Cardinality(sent) < 5
SentKnown == \E c \in sent : c.number = last
============================================================================

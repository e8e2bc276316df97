----------------------------- MODULE MCLockQuorum -----------------------------
(* Finite models of LockQuorum: what they explore, and their symmetry. *)
EXTENDS LockQuorumProperties, TLC

CONSTANTS
  MaxTries,      \* attempts of all consumers
  MaxRestarts,   \* brokers that have restarted a short time ago
  Dead           \* brokers that never answer

Restarting == Cardinality({r \in Replica : wait[r] > 0})

\* Time passes step by step.
One == {1}

\* A broker that restarted does not wait.
AtOnce == 0

Attempts == Cardinality({x \in Client \X (1..MaxTries) : x[2] <= tries[x[1]]})

\* Of what changes nothing there is nothing to explore.
Idle == {"SendAnswer", "IgnoreAnswer", "Refrain"}

Bounded(action, x) ==
  CASE action \in Idle -> FALSE
    [] action = "Lock" -> Attempts < MaxTries
    [] action = "Restart" -> Restarting < MaxRestarts
    [] OTHER -> TRUE

\* One attempt of each consumer, and a broker restarts while somebody holds a queue.
Few(action, x) ==
  CASE action \in Idle -> FALSE
    [] action = "Lock" -> tries[x[1]] = 0
    [] action = "Restart" -> Bounded(action, x) /\ \E c \in Client, q \in Queue : Holds(c, q)
    [] OTHER -> TRUE

\* Nobody processes anything.
Quiet(action, x) == action # "Process" /\ Bounded(action, x)
FewQuiet(action, x) == action # "Process" /\ Few(action, x)

\* For liveness: brokers restart before anybody has asked, and a first attempt may go wrong in every
\* way.  Later ones are made when no other is under way, to a broker that is not dead, and messages
\* are faster than the clock; so is a consumer that has got a queue.
InFlight == {m \in asks \cup frees : m.r \notin Dead}
Answered(c) == \A m \in InFlight : m.c # c
Later == \E c \in Client : attempt[c] # NoAttempt /\ attempt[c].n > 1 /\ attempt[c].left > 0
Steady(action, x) ==
  CASE action \in Idle -> FALSE
    [] action = "Lock" -> /\ InFlight = {}
                          /\ \/ tries[x[1]] = 0
                             \/ x[2] \notin Dead /\ \A c \in Client : attempt[c] = NoAttempt
    [] action = "ReceiveAnswer" -> attempt[x].n = 1 \/ Answered(x)
    [] action = "GiveUp" -> attempt[x].n = 1 \/ attempt[x].left = 0
    [] action = "Tick" -> ~Later /\ \A c \in Client : fresh[c] = {}
    [] action = "Unlock" -> fresh[x] = {}
    [] action \in {"ReceiveAsk", "ReceiveFree"} -> x \notin Dead
    [] action = "Restart" -> Restarting < MaxRestarts /\ \A c \in Client : tries[c] = 0
    [] OTHER -> TRUE
HeardAll(c, got) == got = Answers(attempt[c])
FewNumbers(c) == IF tries[c] = 0 THEN 1 ELSE 2
AlwaysWanted(r, m, q) == TRUE

Symmetry == Permutations(Client) \cup Permutations(Replica)
=============================================================================

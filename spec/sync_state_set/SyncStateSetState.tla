-------------------------- MODULE SyncStateSetState ---------------------------
(* What SyncStateSet says of a master epoch: its constants, its state, and how it begins.        *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Master,      \* the broker that the controller has just elected
  Slave,       \* the other brokers of the group
  None         \* stands for "no broker"

ASSUME BrokerAssumption ==
  IsFiniteSet(Slave) /\ Slave # {} /\ Master \notin Slave /\ None \notin Slave \cup {Master}

VARIABLES
  ctl,         \* the controller: [master, sss: SyncStateSet, sssE: its epoch]
  views,       \* the sets of this master, by their epochs: what answers and polls may say
  alters,      \* requests that were sent; each may arrive at any time, and again
  \* the master
  role,        \* "Master", even if another one was elected, or "Fenced" from its crash on
  start,       \* records in its log when it was elected
  local,       \* the SyncStateSet that it knows
  sssE,        \* and its epoch
  pend,        \* its proposals that are not decided, as far as it knows
  queue,       \* those among its proposals that are not sent yet
  confirm,     \* confirmOffset: every replica that counts has the log up to here
  conn,        \* slave -> its connection as the master sees it (see Conn), or NoConn
  \* each broker
  up,          \* broker -> whether it runs
  inc,         \* broker -> the incarnation in which it is registered with the controller
  torn,        \* broker -> whether it lost a part of its log and has not registered since
  end,         \* broker -> how much of the master's log it has
  \* history, read by no guard
  acked,       \* end of the last record that was acknowledged to a producer
  visible      \* end of the last record that a consumer has seen

vars == <<ctl, views, alters, role, start, local, sssE, pend, queue, confirm, conn, up, inc, torn,
          end, acked, visible>>
ctlVars == <<ctl, views, alters>>
setVars == <<role, start, local, sssE, pend, queue>>
brokerVars == <<up, inc, torn, end>>
seenVars == <<acked, visible>>

-----------------------------------------------------------------------------
Broker == Slave \cup {Master}
Member == Broker \X Nat
Names(S) == {m[1] : m \in S}

\* A proposal: the set asked for, the epoch that it expects, and the set that it was made from.
Proposal == [set : SUBSET Member, exp : Nat, base : SUBSET Member]

Conn == [inc : Nat,                    \* the slave's incarnation, from its handshake
         ack : Nat \cup {-1},          \* last report that the master has received
         reported : Nat,               \* last report that the slave has sent
         ready : BOOLEAN]              \* history: whether it could be added at its last report
NoConn == [inc |-> -1]
Others(S) == {m \in S : m[1] # Master}
\* Whom the master must wait for.
Required == local \cup UNION {p.set : p \in pend}

\* How it begins: with any records of before, and slaves that have any part of them, or are down.
Starts == Nat
Begins(s) == TRUE

\* A master that is elected once more keeps the connections of its slaves.
Init ==
  /\ start \in Starts
  /\ end \in [Broker -> 0..start]
  /\ up \in [Broker -> BOOLEAN]
  /\ end[Master] = start /\ up[Master]
  /\ \E kept \in SUBSET Slave, heard \in [Slave -> -1..start] :
       /\ \A s \in Slave : heard[s] <= end[s]
       /\ conn = [s \in Slave |-> IF s \notin kept THEN NoConn ELSE
                 [inc |-> 0, ack |-> heard[s], reported |-> end[s], ready |-> FALSE]]
  /\ \A s \in Slave : Begins(s)
  /\ ctl = [master |-> Master, sss |-> {<<Master, 0>>}, sssE |-> 1]
  /\ views = <<{<<Master, 0>>}>>
  /\ alters = {}
  /\ role = "Master" /\ local = {<<Master, 0>>} /\ sssE = 1 /\ pend = {} /\ queue = {}
  /\ inc = [b \in Broker |-> 0] /\ torn = [b \in Broker |-> FALSE]
  /\ confirm = start /\ acked = start /\ visible = start
===============================================================================

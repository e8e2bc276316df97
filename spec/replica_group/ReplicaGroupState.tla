-------------------------- MODULE ReplicaGroupState ---------------------------
(* What ReplicaGroup says of a broker group: its constants, its state, and how it begins.        *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Broker,                    \* the brokers of one group
  None,                      \* stands for "no broker"
  AllAckInSyncStateSet,      \* whether a message waits for the whole SyncStateSet
  InSyncReplicas,            \* how many copies it waits for otherwise, the master's included
  EnableElectUncleanMaster   \* whether a broker outside of the SyncStateSet may be elected

ASSUME BrokerAssumption == IsFiniteSet(Broker) /\ Broker # {} /\ None \notin Broker
ASSUME ConfigAssumption ==
  AllAckInSyncStateSet \in BOOLEAN /\ InSyncReplicas \in 1..Cardinality(Broker)
  /\ EnableElectUncleanMaster \in BOOLEAN

VARIABLES
  \* the controller
  ctl,         \* what its log says, see Control
  views,       \* what it may have answered so far, by sssEpoch: sequence of [master, epoch, sss]
  alive,       \* set of brokers that it counts as alive
  \* each broker
  role,        \* broker -> "Master" (maybe a zombie), "Slave" or "Down"
  known,       \* broker -> highest masterEpoch learnt in this incarnation
  inc,         \* broker -> incarnation: number of crashes
  log,         \* broker -> sequence; element o + 1 is the epoch in which record o was first written
  epochs,      \* broker -> epoch cache: sequence of [e: epoch, s: start, end: end or -1]
  torn,        \* set of brokers that lost a part of their log and have not registered since
  local,       \* broker -> [set, epoch]: the SyncStateSet that it works with, as a master
  pend,        \* broker -> its proposal that is not decided, or NoProposal
  confirm,     \* broker -> confirmOffset of a master: up to there consumers see its log
  \* connections and messages
  link,        \* slave -> the master that it is connected to, or None
  conn,        \* master -> slave -> the master's end of the last connection, see Conn, or NoConn
  alters,      \* set of proposals that the controller may receive, at any time, any number of times
  \* history, read by no guard
  acked,       \* the longest log whose last message was acknowledged to a producer
  seen         \* the longest log that a consumer has seen

ctlVars == <<ctl, views, alive>>
brokerVars == <<role, known, inc, log, epochs, torn>>
masterVars == <<local, pend, confirm>>
vars == <<ctlVars, brokerVars, masterVars, link, conn, alters, acked, seen>>

-----------------------------------------------------------------------------
Control == [master : Broker \cup {None}, epoch : Nat,        \* masterEpoch
            sss : SUBSET Broker, sssEpoch : Nat,  \* SyncStateSet, number of decisions about it
            inc : [Broker -> Nat],            \* the registered incarnation of each broker
            unfit : SUBSET Broker]            \* members that registered with a torn log
Proposal == [from : Broker, epoch : Nat,      \* the master and its masterEpoch
             exp : Nat,                       \* the sssEpoch that it changes
             set : SUBSET Broker,
             new : Broker \cup {None}, inc : Nat]    \* who joins, in which incarnation
NoProposal == [from |-> None, set |-> {}]
NoSet == [set |-> {}, epoch |-> 0]
Conn == [inc : Nat,                           \* the slave's incarnation, from its handshake
         reported : Nat \cup {-1},            \* last end of its log that the slave has sent
         ack : Nat \cup {-1}]                 \* last one that the master has heard
NoConn == [inc |-> 0, reported |-> -1, ack |-> -1]

Init ==
  /\ ctl = [master |-> None, epoch |-> 0, sss |-> {}, sssEpoch |-> 0,
            inc |-> [b \in Broker |-> 0], unfit |-> {}]
  /\ views = <<>> /\ alive = Broker /\ alters = {}
  /\ role = [b \in Broker |-> "Slave"] /\ torn = {}
  /\ known = [b \in Broker |-> 0] /\ inc = [b \in Broker |-> 0]
  /\ log = [b \in Broker |-> <<>>] /\ epochs = [b \in Broker |-> <<>>]
  /\ local = [b \in Broker |-> NoSet] /\ pend = [b \in Broker |-> NoProposal]
  /\ confirm = [b \in Broker |-> 0] /\ acked = <<>> /\ seen = <<>>
  /\ link = [b \in Broker |-> None] /\ conn = [b \in Broker |-> [s \in Broker |-> NoConn]]
===============================================================================

------------------------------ MODULE PreOnline ------------------------------
(* What a master does before it serves again: it waits in isolation until it has what its slaves know.

   While a master is gone, the slave with the smallest brokerId acts for it (Route).  Consumers commit
   their offsets there, and it delivers messages that are due; so it knows more than the master that
   comes back.  If the master served at once, offsets would go back, and its slaves copy what it has.
   So it starts isolated: it registers nowhere and serves nobody.  It asks a name server who is in its
   group; it tells each slave where to connect to, waits until the connection is in TRANSFER, and takes
   the slave's table.  It is online when it has done that with all of them.

   Modelled: one table of offsets (of consumers, or of delayed messages), queue by queue, and its
   DataVersion, which moves with each Step-th change only; what is in memory and what is on the disk;
   slaves that copy the master's table; slaves and masters that stop, start and register; a name server
   that drops who is gone, late, or somebody who is not; connections that break; what comes in between.
   Not modelled: the log (LegacyReplication has it), offsets that an operator sets back, topics and
   subscription groups, the smallest brokerId as anything but what a slave hears when it asks (Route),
   several name servers, a slave's own pre-online phase.
   A request and its answer are one step, taken when the other end answers.  That is all the same to the
   master, which does one thing after the other: what changes on the way changes after the step.

   Conventions: the master is brokerId 0.  Offset 0: a table has none of that queue.
   Source: BrokerPreOnlineService, BrokerController (isIsolated, startService, updateMinBroker),
   SlaveSynchronize, ConsumerOffsetManager and ScheduleMessageService of apache/rocketmq at 8fc57f1468;
   published rule: RIP-32, "slave acting master", steps 1 to 5 of pre-online.                     *)
EXTENDS FiniteSets, Naturals, Extrema

CONSTANTS
  Slave,         \* slaves, by their brokerIds
  Queue,         \* queues of a table: of a topic and a consumer group, or of a delay level
  Step           \* consumerOffsetUpdateVersionStep, delayOffsetUpdateVersionStep; 0: no version moves

ASSUME SlaveAssumption == Slave \subseteq Nat \ {0} /\ Slave # {} /\ IsFiniteSet(Slave)
ASSUME QueueAssumption == Queue # {} /\ IsFiniteSet(Queue)
ASSUME StepAssumption == Step \in Nat

Master == 0
Broker == Slave \cup {Master}

VARIABLES
  up,          \* broker -> whether it runs
  group,       \* who is registered at the name server, as it believes
  \* each broker, in memory
  serves,      \* broker -> whether clients' commits are taken, and messages that are due delivered
  table,       \* broker -> queue -> offset
  version,     \* broker -> counter of its DataVersion
  moves,       \* broker -> changes since its version moved or it started (versionChangeCounter)
  masterAddr,  \* slave -> whether it has the address of a master, to copy from
  \* each broker, on its disk
  saved,       \* broker -> [table, version]
  \* both ends of it
  link,        \* slave -> its connection to the master: "none", "told": it knows where to, "transfer"
  \* the master, in memory
  isolated,    \* whether it has started and is not online yet
  members,     \* slaves in the last answer of the name server
  asked,       \* whether it has asked since it started, or took a table
  done,        \* slaves of which it has the table
  \* history, read by no guard
  there,       \* slaves that have been registered since the master started, or took its last table
  met          \* slaves whose table the master took over a connection in TRANSFER, since it started

vars == <<up, group, serves, table, version, moves, masterAddr, saved, link, isolated, members, asked,
          done, there, met>>
tableVars == <<table, version, moves, saved>>
preOnlineVars == <<isolated, members, asked, done, there, met>>

-----------------------------------------------------------------------------
Table == [Queue -> Nat]
NoTable == [q \in Queue |-> 0]

Init ==
  /\ up = [b \in Broker |-> TRUE]
  /\ group = Broker
  /\ serves = [b \in Broker |-> b = Master]
  /\ table = [b \in Broker |-> NoTable]
  /\ version = [b \in Broker |-> 0]
  /\ moves = [b \in Broker |-> 0]
  /\ masterAddr = [s \in Slave |-> TRUE]
  /\ saved = [b \in Broker |-> [table |-> NoTable, version |-> 0]]
  /\ link = [s \in Slave |-> "transfer"]
  /\ isolated = FALSE
  /\ members = {}
  /\ asked = FALSE
  /\ done = {}
  /\ there = {}
  /\ met = {}

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, x) == TRUE

\* ---- Clients ----

\* Nobody changes a table who does not serve, the master in isolation neither.  \* CHECK Serving
TakesCommits(b) == serves[b]

\* A version moves with every Step-th change.                               \* CHECK B49
IsCounted(b) == TRUE

\* A consumer commits, or a message that is due is delivered.
Commit(b, q) ==
  /\ Explored("Commit", <<b, q>>)
  /\ up[b]
  /\ TakesCommits(b)

  /\ table' = [table EXCEPT ![b][q] = @ + 1]
  /\ LET moved == Step > 0 /\ IsCounted(b) /\ moves[b] + 1 = Step
     IN /\ version' = [version EXCEPT ![b] = IF moved THEN @ + 1 ELSE @]
        /\ moves' = [moves EXCEPT ![b] =
                       IF moved \/ Step = 0 \/ ~IsCounted(b) THEN 0 ELSE @ + 1]
  /\ UNCHANGED <<up, group, serves, masterAddr, saved, link, preOnlineVars>>

\* ---- Brokers ----

\* A broker writes its table to its disk, from time to time.
Persist(b) ==
  /\ Explored("Persist", b)
  /\ up[b]
  /\ saved[b] # [table |-> table[b], version |-> version[b]]

  /\ saved' = [saved EXCEPT ![b] = [table |-> table[b], version |-> version[b]]]
  /\ UNCHANGED <<up, group, serves, table, version, moves, masterAddr, link, preOnlineVars>>

\* It stops, by itself or by a crash, and what it has not persisted is gone.
Stop(b) ==
  /\ Explored("Stop", b)
  /\ up[b]

  /\ up' = [up EXCEPT ![b] = FALSE]
  /\ serves' = [serves EXCEPT ![b] = FALSE]
  /\ table' = [table EXCEPT ![b] = saved[b].table]
  /\ version' = [version EXCEPT ![b] = saved[b].version]
  /\ moves' = [moves EXCEPT ![b] = 0]
  /\ masterAddr' = [s \in Slave |-> masterAddr[s] /\ b # s]
  /\ link' = [s \in Slave |-> IF b = s THEN "none"
                             ELSE IF b = Master /\ link[s] = "transfer" THEN "told" ELSE link[s]]
  /\ isolated' = (isolated /\ b # Master)
  /\ members' = IF b = Master THEN {} ELSE members
  /\ asked' = (asked /\ b # Master)
  /\ done' = IF b = Master THEN {} ELSE done
  /\ UNCHANGED <<group, saved, there, met>>

\* It starts again: the master in isolation.
Start(b) ==
  /\ Explored("Start", b)
  /\ ~up[b]

  /\ up' = [up EXCEPT ![b] = TRUE]
  /\ isolated' = (isolated \/ b = Master)
  /\ there' = IF b = Master THEN group \ {Master} ELSE there
  /\ met' = IF b = Master THEN {} ELSE met
  /\ UNCHANGED <<group, serves, tableVars, masterAddr, link, members, asked, done>>

\* A broker in isolation does not register.                                \* CHECK Isolated
MayRegister(b) == ~(b = Master /\ isolated)

\* It registers, again and again; a slave is told the master's address, if there is one, and if the answer
\* is not lost.
Register(b) ==
  /\ Explored("Register", b)
  /\ up[b]
  /\ MayRegister(b)
  /\ b \notin group \/ (b \in Slave /\ masterAddr[b] # (Master \in group))

  /\ group' = group \cup {b}
  /\ \E hears \in BOOLEAN :
       masterAddr' = [s \in Slave |-> IF s = b /\ hears THEN Master \in group ELSE masterAddr[s]]
  /\ UNCHANGED <<up, serves, tableVars, link, preOnlineVars>>

\* With its address comes where to connect to (handleRegisterBrokerResult), if the slave knows nowhere.
\*                                                                         \* CHECK Forgotten
MayLearn(s) == TRUE
LearnHaAddress(s) ==
  /\ Explored("LearnHaAddress", s)
  /\ up[s]
  /\ masterAddr[s]
  /\ link[s] = "none"
  /\ MayLearn(s)

  /\ link' = [link EXCEPT ![s] = "told"]
  /\ UNCHANGED <<up, group, serves, tableVars, masterAddr, preOnlineVars>>

\* A name server takes a broker for gone.
Remove(b) ==
  /\ Explored("Remove", b)
  /\ b \in group

  /\ group' = group \ {b}
  /\ there' = there \ {b}
  /\ UNCHANGED <<up, serves, tableVars, masterAddr, link, isolated, members, asked, done, met>>

IsSmallest(s) == s \in group /\ \A b \in group : s <= b

\* A slave asks who is in its group, and acts if it has the smallest brokerId there; it copies no more
\* where no master is.
Hear(s) ==
  /\ Explored("Hear", s)
  /\ up[s]
  /\ group # {}
  /\ serves[s] # IsSmallest(s) \/ (masterAddr[s] /\ Master \notin group)

  /\ serves' = [serves EXCEPT ![s] = IsSmallest(s)]
  /\ masterAddr' = [masterAddr EXCEPT ![s] = @ /\ Master \in group]
  /\ UNCHANGED <<up, group, tableVars, link, preOnlineVars>>

\* Offsets of theirs over one's own, as far as there are any.
Put(mine, theirs) == [q \in Queue |-> IF theirs[q] = 0 THEN mine[q] ELSE theirs[q]]

\* Who acts does not copy.                                                 \* CHECK B48
MayCopy(s) == ~serves[s]
\* A master in isolation gives nobody its table.                           \* CHECK Gives
MayBeCopied == ~isolated
\* What is on a slave's disk when it has copied, wherever it stops.        \* CHECK B51
Copied(s) == {Put(table[s], table[Master])}
\* The version comes with the table.                                       \* CHECK B48Version
CopiedVersion(s) == version[Master]

\* A slave copies the table of its master.
Synchronize(s) ==
  /\ Explored("Synchronize", s)
  /\ up[s] /\ up[Master]
  /\ masterAddr[s]
  /\ MayCopy(s)
  /\ MayBeCopied

  /\ \E t \in Copied(s) :
       /\ table' = [table EXCEPT ![s] = t]
       /\ version' = [version EXCEPT ![s] = CopiedVersion(s)]
       /\ saved' = [saved EXCEPT ![s] = [table |-> t, version |-> CopiedVersion(s)]]
  /\ UNCHANGED <<up, group, serves, moves, masterAddr, link, preOnlineVars>>

\* ---- The master before it is online ----

IsWaiting == up[Master] /\ isolated

\* It asks again, as long as it waits.                                     \* CHECK Again
MayAsk == TRUE
\* It waits for slaves, and not for itself.                                \* CHECK Itself
MembersOf(brokers) == brokers \ {Master}

\* 1: it asks the name server who is in its group (GET_BROKER_MEMBER_GROUP).
AskGroup ==
  /\ Explored("AskGroup", Master)
  /\ IsWaiting
  /\ MayAsk
  /\ ~asked \/ members # MembersOf(group)

  /\ members' = MembersOf(group)
  /\ asked' = TRUE
  /\ UNCHANGED <<up, group, serves, tableVars, masterAddr, link, isolated, done, there, met>>

\* Of whom it needs the table.
Wanted == members \ done

\* 2: it tells a slave where to connect to (EXCHANGE_BROKER_HA_INFO).
SendHaInfo(s) ==
  /\ Explored("SendHaInfo", s)
  /\ IsWaiting
  /\ s \in Wanted
  /\ up[s]
  /\ link[s] = "none"

  /\ link' = [link EXCEPT ![s] = "told"]
  /\ UNCHANGED <<up, group, serves, tableVars, masterAddr, preOnlineVars>>

\* 3: the slave connects, and the connection is in TRANSFER.
Handshake(s) ==
  /\ Explored("Handshake", s)
  /\ up[s] /\ up[Master]
  /\ link[s] = "told"

  /\ link' = [link EXCEPT ![s] = "transfer"]
  /\ UNCHANGED <<up, group, serves, tableVars, masterAddr, preOnlineVars>>

\* The connection breaks, and the slave still knows where it went to,
Disconnect(s) ==
  /\ Explored("Disconnect", s)
  /\ link[s] = "transfer"

  /\ link' = [link EXCEPT ![s] = "told"]
  /\ UNCHANGED <<up, group, serves, tableVars, masterAddr, preOnlineVars>>

\* or does not know it any more, as it has heard that the master is gone.
Forget(s) ==
  /\ Explored("Forget", s)
  /\ link[s] # "none"

  /\ link' = [link EXCEPT ![s] = "none"]
  /\ UNCHANGED <<up, group, serves, tableVars, masterAddr, preOnlineVars>>

\* The connection is the one of that slave.                                \* CHECK Host
\* It is in TRANSFER, and not only wanted.                                 \* CHECK Transfer
IsConnected(s) == link[s] = "transfer"
\* What the master makes of both tables: of each queue the larger offset,  \* CHECK Versions
\* not whatever the slave has.                                             \* CHECK Compared
Merged(s) == [q \in Queue |-> Max(table[Master][q], table[s][q])]
\* Who came meanwhile is in no answer of before: it asks again.            \* CHECK Fresh
AsksAgain == TRUE

\* 4: the master takes the slave's table (GET_ALL_CONSUMER_OFFSET, GET_ALL_DELAY_OFFSET), and has it on its
\* disk.
TakeTable(s) ==
  /\ Explored("TakeTable", s)
  /\ IsWaiting
  /\ s \in Wanted
  /\ up[s]
  /\ IsConnected(s)

  /\ LET v == Max(version[Master], version[s])
     IN /\ table' = [table EXCEPT ![Master] = Merged(s)]
        /\ version' = [version EXCEPT ![Master] = v]
        /\ saved' = [saved EXCEPT ![Master] = [table |-> Merged(s), version |-> v]]
  /\ done' = done \cup {s}
  /\ asked' = ~AsksAgain
  /\ there' = group \ {Master}
  /\ met' = IF link[s] = "transfer" THEN met \cup {s} ELSE met
  /\ UNCHANGED <<up, group, serves, moves, masterAddr, link, isolated, members>>

\* Every slave of the last answer has given its table,                     \* CHECK B50
\* and it was waited for.                                                  \* CHECK B76
IsComplete == asked /\ members \subseteq done

\* 5: it is online, and registers.
GoOnline ==
  /\ Explored("GoOnline", Master)
  /\ IsWaiting
  /\ IsComplete

  /\ isolated' = FALSE
  /\ serves' = [serves EXCEPT ![Master] = TRUE]
  /\ members' = {}
  /\ asked' = FALSE
  /\ done' = {}
  /\ UNCHANGED <<up, group, tableVars, masterAddr, link, there, met>>

-----------------------------------------------------------------------------
Next ==
  \/ \E b \in Broker, q \in Queue : Commit(b, q)
  \/ \E b \in Broker : Persist(b) \/ Stop(b) \/ Start(b) \/ Register(b) \/ Remove(b)
  \/ \E s \in Slave :
       \/ LearnHaAddress(s) \/ Hear(s) \/ Synchronize(s)
       \/ SendHaInfo(s) \/ Handshake(s) \/ Disconnect(s) \/ Forget(s) \/ TakeTable(s)
  \/ AskGroup
  \/ GoOnline

Spec == Init /\ [][Next]_vars
===============================================================================

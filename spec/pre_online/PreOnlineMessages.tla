--------------------------- MODULE PreOnlineMessages ---------------------------
(* What brokers say to each other while a master comes back, and what is missed of them.

   The steps are those of PreOnline, word for word.  What is said here changes nothing: a broker says it
   as it is so in its own state, or somebody has waited for it in vain.  So every behaviour is one of
   PreOnline (finite models explore that one), and the other way round (TLC checks that each step of
   PreOnline is one of this module: MCPreOnlineMessages).  There is no time here: that it was due, who
   reads a trace knows by how brokers are set up; here is of whom it is due.
   Used for: what brokers wrote of a run; a trace is of one table.

   Source: BrokerOuterAPI, AdminBrokerProcessor, SlaveSynchronize, BrokerPreOnlineService,
   AutoSwitchHAClient and AutoSwitchHAConnection of apache/rocketmq at 8fc57f1468.                *)
EXTENDS FiniteSets, Naturals

CONSTANTS Slave, Queue, Step

VARIABLES
  up, group, serves, table, version, moves, masterAddr, saved, link,
  isolated, members, asked, done, there, met

P == INSTANCE PreOnline

vars == P!vars
Master == P!Master
Broker == P!Broker
Init == P!Init

-----------------------------------------------------------------------------
\* ---- What brokers ask ----

\* Who registers (REGISTER_BROKER), or says that it lives (BROKER_HEARTBEAT), may be found.
SendRegistration(b) ==
  /\ up[b] /\ P!MayRegister(b)

  /\ UNCHANGED vars
SendHeartbeat(b) ==
  /\ up[b] /\ P!MayRegister(b)

  /\ UNCHANGED vars

\* A slave asks its master for the table (GET_ALL_CONSUMER_OFFSET, GET_ALL_DELAY_OFFSET).
Copies(s) == up[s] /\ masterAddr[s] /\ P!MayCopy(s)
AskCopy(s) ==
  /\ Copies(s)

  /\ UNCHANGED vars

\* A master in isolation tells a slave where to connect to (EXCHANGE_BROKER_HA_INFO),
TellHaInfo(s) ==
  /\ P!IsWaiting /\ s \in P!Wanted

  /\ UNCHANGED vars

\* or asks it for the table.
AskTable(s) ==
  /\ P!IsWaiting /\ s \in P!Wanted

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
\* ---- What brokers answer ----

\* Whoever is asked gives the table that it has,
GiveTable(b, t, v) ==
  /\ up[b]
  /\ b = Master => P!MayBeCopied
  /\ t = table[b] /\ v = version[b]

  /\ UNCHANGED vars

\* but for a master in isolation.
GiveNoTable(b) ==
  /\ b = Master /\ up[b] /\ ~P!MayBeCopied

  /\ UNCHANGED vars

\* A slave says that it knows where to connect to.
TakeHaInfo(s) ==
  /\ up[s] /\ link[s] # "none"

  /\ UNCHANGED vars

\* Somebody waits for an answer of b, to a request or over a connection: there must be none.
Unanswered(b) ==
  /\ ~up[b]

  /\ UNCHANGED vars

\* A slave has connected, and does not say who it is.
NoHandshake(s) ==
  /\ ~up[s] \/ link[s] # "told"

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
\* ---- What a slave makes of answers ----

\* It has heard who is in its group (GET_BROKER_MEMBER_GROUP): it acts if it has the smallest brokerId, and
\* has no master who is not there.
TakeGroup(s, g) ==
  /\ up[s]
  /\ serves[s] = (s \in g /\ \A b \in g : s <= b)
  /\ masterAddr[s] => Master \in g

  /\ UNCHANGED vars

\* It has heard what its master has.
TakeCopy(s, t, v) ==
  /\ up[s]
  /\ table[s] = P!Put(table[s], t) /\ version[s] = v

  /\ UNCHANGED vars

\* It has heard that its master is gone, and still knows where to connect to.
NoForget(s) ==
  /\ ~up[s] \/ link[s] = "none"

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
\* ---- What a broker has not done for too long ----

NoRegistration(b) ==
  /\ ~up[b] \/ ~P!MayRegister(b)

  /\ UNCHANGED vars

NoHeartbeat(b) ==
  /\ ~up[b] \/ ~P!MayRegister(b)

  /\ UNCHANGED vars

\* A slave has not asked who is there,
NoPoll(s) ==
  /\ ~up[s]

  /\ UNCHANGED vars

\* or asked for no table.
NoCopy(s) ==
  /\ ~Copies(s)

  /\ UNCHANGED vars

\* A slave knows where to connect to, and has not tried, or has a connection of which it hears nothing.
NoConnection(s) ==
  /\ ~up[s] \/ link[s] # "told"

  /\ UNCHANGED vars

\* What a broker has is not on its disk.
IsSaved(b) == saved[b] = [table |-> table[b], version |-> version[b]]
NoPersist(b) ==
  /\ ~up[b] \/ IsSaved(b)

  /\ UNCHANGED vars

\* A master that waits does nothing.
NoProgress ==
  /\ ~P!IsWaiting

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
\* ---- What a broker does without need ----

\* It writes what its disk has.
PersistAgain(b) ==
  /\ ~IsSaved(b)

  /\ UNCHANGED vars

\* A slave gives up a connection, and nothing has happened to it or to its master.
GiveUp(s) ==
  /\ link[s] # "transfer"

  /\ UNCHANGED vars

\* A slave asks for the other table once more, and not for this one.
PassOver(s) ==
  /\ ~Copies(s)

  /\ UNCHANGED vars

\* A master asks the slave once more that it has just asked, and not another one.
AskAgain(s) ==
  /\ P!Wanted \subseteq {s}

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
Says(b) ==
  \/ SendRegistration(b) \/ SendHeartbeat(b)
  \/ \E t \in {table[b]}, v \in {version[b]} : GiveTable(b, t, v)
  \/ GiveNoTable(b) \/ Unanswered(b)
  \/ NoRegistration(b) \/ NoHeartbeat(b) \/ NoPersist(b) \/ PersistAgain(b)
SlaveSays(s) ==
  \/ AskCopy(s) \/ TellHaInfo(s) \/ AskTable(s) \/ TakeHaInfo(s) \/ NoHandshake(s)
  \/ \E g \in SUBSET Broker : TakeGroup(s, g)
  \/ \E t \in {table[s]}, v \in {version[s]} : TakeCopy(s, t, v)
  \/ NoForget(s)
  \/ NoPoll(s) \/ NoCopy(s) \/ NoConnection(s) \/ GiveUp(s) \/ PassOver(s) \/ AskAgain(s)

-----------------------------------------------------------------------------
\* The steps of PreOnline.
Commit(b, q) == P!Commit(b, q)
Persist(b) == P!Persist(b)
Stop(b) == P!Stop(b)
Start(b) == P!Start(b)
Register(b) == P!Register(b)
Remove(b) == P!Remove(b)
LearnHaAddress(s) == P!LearnHaAddress(s)
Hear(s) == P!Hear(s)
Synchronize(s) == P!Synchronize(s)
SendHaInfo(s) == P!SendHaInfo(s)
Handshake(s) == P!Handshake(s)
Disconnect(s) == P!Disconnect(s)
Forget(s) == P!Forget(s)
TakeTable(s) == P!TakeTable(s)
AskGroup == P!AskGroup
GoOnline == P!GoOnline

Next ==
  \/ \E b \in Broker, q \in Queue : Commit(b, q)
  \/ \E b \in Broker : Persist(b) \/ Stop(b) \/ Start(b) \/ Register(b) \/ Remove(b)
  \/ \E s \in Slave :
       \/ LearnHaAddress(s) \/ Hear(s) \/ Synchronize(s)
       \/ SendHaInfo(s) \/ Handshake(s) \/ Disconnect(s) \/ Forget(s) \/ TakeTable(s)
  \/ AskGroup
  \/ GoOnline
  \/ \E b \in Broker : Says(b)
  \/ \E s \in Slave : SlaveSays(s)
  \/ NoProgress

Spec == Init /\ [][Next]_vars
================================================================================

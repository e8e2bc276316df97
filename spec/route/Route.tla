-------------------------------- MODULE Route --------------------------------
(* Who is where: the name servers' tables of one group of brokers, and the slave that acts for a
   master that is gone.

   Brokers register with each name server on its own: as master with brokerId 0, as slaves with
   their own.  A name server forgets who leaves, whose channel is closed, and of whom it has heard
   nothing for too long; it decides that at one time, and does it at another.  Where no master is
   left, it shows clients the slave with the smallest brokerId as the master, for reading only, and
   that slave runs a master's services until it hears of a smaller one: it asks the name servers
   again and again, and they may tell it.
   What goes wrong comes late: the registration of a master that has been replaced, the end of a
   registration that is followed by a new one, the news of a master that is back.

   Modelled: name servers that know nothing of each other; registrations that are delayed, lost or
   reordered, also those of one broker; removals that are decided and done later; brokers that stop
   with or without saying so, start again and reconnect; elections by a controller, of which a broker
   hears later; whether producers may write; notifications, and answers to polls, that are late or
   lost; name servers that start again, and have forgotten all.
   Not modelled: topics one by one (their permissions change together), time (whoever is alive may be taken for dead at any
   time), light heartbeats (they keep a name server from that, and change nothing else), name servers
   on which supportActingMaster is off although brokers ask for it, a master that comes back in
   isolation until it has what its slaves know (PreOnline).

   Conventions: a broker is its brokerId as a slave.  A registration is named by who made it, on
   which channel, as what.  A message that is lost is one that stays in its set for ever.
   Source: RouteInfoManager, BatchUnregistrationService and BrokerHousekeepingService of the name
   server, BrokerController (registerBrokerAll, syncBrokerMemberGroup, updateMinBroker) of
   apache/rocketmq at 8fc57f1468; published rule: RIP-32, "slave acting master".                 *)
EXTENDS FiniteSets, Sequences, Extrema

CONSTANTS
  Broker,        \* brokers, by their numbers from 1 on: their brokerIds as slaves
  NameServer,    \* name servers
  Acting,        \* enableSlaveActingMaster of the group, and supportActingMaster of the name servers
  Notifies       \* notifyMinBrokerIdChanged

ASSUME BrokerAssumption == Broker \subseteq Nat \ {0} /\ Broker # {} /\ IsFiniteSet(Broker)
ASSUME ModeAssumption == Acting \in BOOLEAN /\ Notifies \in BOOLEAN

VARIABLES
  elected,     \* epoch -> who is master in it: what the controller has decided
  \* each broker, in memory
  up,          \* broker -> whether it runs
  channel,     \* broker -> number of its connections so far
  role,        \* broker -> [id: 0 or its own, ver: of which epoch], or NoRole
  minId,       \* broker -> the smallest brokerId that it has heard of, or 0: of a master, or nothing
  serves,      \* broker -> whether it runs a master's services as a slave
  \* each name server, in memory
  table,       \* name server -> set of Entry
  perm,        \* name server -> whether producers may write: "none": there is no topic, "r", "rw"
  seen,        \* name server -> the last epoch of which a master has registered, as it remembers
  \* on the way, or waiting to be done
  regs,        \* registrations: set of [n, e]
  unregs,      \* ends of registrations that are decided: set of [n, e]
  notes,       \* notifications and answers to polls: set of [n, b: to whom, id: the smallest brokerId]
  \* history, read by no guard
  past         \* name server -> the last epoch of which a master was in its table since it started

vars == <<elected, up, channel, role, minId, serves, table, perm, seen, regs, unregs, notes, past>>
brokerVars == <<up, channel, role, minId, serves>>
tableVars == <<table, perm, seen, past>>

-----------------------------------------------------------------------------
Role == [id : Broker \cup {0}, ver : Nat]
\* What a broker takes itself for that has asked nobody: brokerId is 0 where nobody sets it.
NoRole == [id |-> 0, ver |-> 0]
Entry == [id : Broker \cup {0}, b : Broker, ver : Nat, ch : Nat]

Init ==
  /\ elected \in {<<b>> : b \in Broker}
  /\ up = [b \in Broker |-> TRUE]
  /\ channel = [b \in Broker |-> 1]
  /\ role = [b \in Broker |-> NoRole]
  /\ minId = [b \in Broker |-> 0]
  /\ serves = [b \in Broker |-> FALSE]
  /\ table = [n \in NameServer |-> {}]
  /\ perm = [n \in NameServer |-> "none"]
  /\ seen = [n \in NameServer |-> 0]
  /\ regs = {}
  /\ unregs = {}
  /\ notes = {}
  /\ past = [n \in NameServer |-> 0]

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, x) == TRUE

Ids(entries) == {e.id : e \in entries}
\* Of two registrations of a broker: x is y, or was made before it.          \* CHECK Versions
IsBefore(x, y) == x.ch < y.ch \/ (x.ch = y.ch /\ x.ver <= y.ver)
HasMaster(entries) == 0 \in Ids(entries)

\* ---- The controller ----

\* Another broker is master from now on.
Elect(b) ==
  /\ Explored("Elect", b)
  /\ elected[Len(elected)] # b

  /\ elected' = Append(elected, b)
  /\ UNCHANGED <<brokerVars, tableVars, regs, unregs, notes>>

\* ---- Brokers ----

\* What the controller tells a broker that it is.
RoleOf(b) ==
  LET epoch == Len(elected)
  IN [id |-> IF elected[epoch] = b THEN 0 ELSE b, ver |-> epoch]

\* The slave serves that knows of no smaller brokerId.
IsToServe(b, id, smallest) == Acting /\ id = b /\ smallest = b
\* Whoever becomes a slave again looks at what it has heard, and at nothing that is new.
\*                                                                         \* CHECK Demotion
ServesAs(b, id) == IsToServe(b, id, minId[b])

\* A broker hears what it is.
LearnRole(b) ==
  /\ Explored("LearnRole", b)
  /\ up[b]
  /\ role[b] # RoleOf(b)

  /\ role' = [role EXCEPT ![b] = RoleOf(b)]
  /\ serves' = [serves EXCEPT ![b] = ServesAs(b, RoleOf(b).id)]
  /\ UNCHANGED <<elected, up, channel, minId, tableVars, regs, unregs, notes>>

EntryOf(b) == [id |-> role[b].id, b |-> b, ver |-> role[b].ver, ch |-> channel[b]]

\* Nobody registers who does not know what it is.                          \* CHECK B44
KnowsRole(b) == role[b] # NoRole

\* A broker registers, again and again.
Register(b, n) ==
  /\ Explored("Register", <<b, n>>)
  /\ up[b]
  /\ KnowsRole(b)
  /\ [n |-> n, e |-> EntryOf(b)] \notin regs

  /\ regs' = regs \cup {[n |-> n, e |-> EntryOf(b)]}
  /\ UNCHANGED <<elected, brokerVars, tableVars, unregs, notes>>

\* It stops, and may say so: it unregisters.
Stop(b, says) ==
  /\ Explored("Stop", <<b, says>>)
  /\ up[b]
  /\ says => KnowsRole(b)

  /\ up' = [up EXCEPT ![b] = FALSE]
  /\ role' = [role EXCEPT ![b] = NoRole]
  /\ minId' = [minId EXCEPT ![b] = 0]
  /\ serves' = [serves EXCEPT ![b] = FALSE]
  /\ unregs' = unregs \cup {[n |-> n, e |-> EntryOf(b)] : n \in IF says THEN NameServer ELSE {}}
  /\ UNCHANGED <<elected, channel, tableVars, regs, notes>>

\* It starts again and has asked nobody yet.
Start(b) ==
  /\ Explored("Start", b)
  /\ ~up[b]

  /\ up' = [up EXCEPT ![b] = TRUE]
  /\ channel' = [channel EXCEPT ![b] = @ + 1]
  /\ UNCHANGED <<elected, role, minId, serves, tableVars, regs, unregs, notes>>

\* Its connections break, and it makes new ones.
Reconnect(b) ==
  /\ Explored("Reconnect", b)
  /\ up[b]

  /\ channel' = [channel EXCEPT ![b] = @ + 1]
  /\ UNCHANGED <<elected, up, role, minId, serves, tableVars, regs, unregs, notes>>

\* What a broker makes of the smallest brokerId of its group.
Hears(b, id) ==
  /\ minId' = [minId EXCEPT ![b] = id]
  /\ serves' = [serves EXCEPT ![b] = IsToServe(b, role[b].id, id)]

\* A broker asks, whether it is told or not.                               \* CHECK Polls
Asks(b, n) == TRUE

\* It has asked a name server who is in its group (GET_BROKER_MEMBER_GROUP, or the route of a topic),
\* and that answers.  An answer is on its way as a notification is.
Poll(b, n) ==
  /\ Explored("Poll", <<b, n>>)
  /\ Asks(b, n)
  /\ table[n] # {}

  /\ notes' = notes \cup {[n |-> n, b |-> b, id |-> MinOf(Ids(table[n]))]}
  /\ UNCHANGED <<elected, brokerVars, tableVars, regs, unregs>>

\* It hears what a name server tells it, if it runs; the same may be on its way once more.
ReceiveNote(b, n, again) ==
  /\ Explored("ReceiveNote", <<b, n, again>>)
  /\ \E m \in notes :
       /\ m.b = b /\ m.n = n

       /\ notes' = IF again THEN notes ELSE notes \ {m}
       /\ IF up[b] THEN Hears(b, m.id) ELSE UNCHANGED <<minId, serves>>
  /\ UNCHANGED <<elected, up, channel, role, tableVars, regs, unregs>>

\* ---- Name servers ----

\* Topics are masked in groups that have asked for it only.                 \* CHECK B43
MayMask == Acting
\* Where a registration leaves no master, nobody writes, whoever made it.   \* CHECK Demoted
MasksAtRegistration(n, entries, e) == ~HasMaster(entries)
\* With a master producers may write again.                                 \* CHECK Restores
PermWithMaster(n) == "rw"

\* All that are registered are told of another smallest brokerId.           \* CHECK Told
Notes(n, entries) ==
  IF Notifies /\ entries # {} /\ (table[n] = {} \/ MinOf(Ids(entries)) # MinOf(Ids(table[n])))
  THEN {[n |-> n, b |-> e.b, id |-> MinOf(Ids(entries))] : e \in entries}
  ELSE {}

\* A master of an epoch before the last one that has registered is none,    \* CHECK B40
\* whoever is registered at present.                                        \* CHECK B40Forgotten
IsNewest(n, e) == e.id = 0 => e.ver >= seen[n]
\* A broker has one entry,                                                  \* CHECK OneEntry
\* and a brokerId one broker.                                               \* CHECK OneId
IsReplaced(x, e) == x.b = e.b \/ x.id = e.id
\* What a broker has registered later stays, as long as it is registered.   \* CHECK OwnOrder
IsInOrder(n, e) ==
  \A x \in table[n] : x.b = e.b => IsBefore(x, e)

\* A registration that is refused changes nothing.                          \* CHECK Refused
LeftByRefused(n, e) == table[n]

\* A broker's registration comes.
ReceiveRegistration(n, b) ==
  /\ Explored("ReceiveRegistration", n)
  /\ \E m \in regs :
       /\ m.n = n /\ m.e.b = b

       /\ regs' = regs \ {m}
       /\ IF IsNewest(n, m.e) /\ IsInOrder(n, m.e)
          THEN LET entries == {x \in table[n] : ~IsReplaced(x, m.e)} \cup {m.e}
                   masks == MayMask /\ MasksAtRegistration(n, entries, m.e)
               IN /\ table' = [table EXCEPT ![n] = entries]
                  /\ seen' = [seen EXCEPT ![n] = IF m.e.id = 0 THEN Max(@, m.e.ver) ELSE @]
                  /\ past' = [past EXCEPT ![n] = IF m.e.id = 0 THEN Max(@, m.e.ver) ELSE @]
                  /\ perm' = [perm EXCEPT ![n] = IF m.e.id = 0 THEN PermWithMaster(n)
                                                 ELSE IF masks THEN "r" ELSE @]
                  /\ notes' = notes \cup Notes(n, entries)
          ELSE /\ table' = [table EXCEPT ![n] = LeftByRefused(n, m.e)]
               /\ UNCHANGED <<seen, past, perm, notes>>
  /\ UNCHANGED <<elected, brokerVars, unregs>>

\* A name server takes a broker for gone: its channel was closed, or it was silent for too long, and
\* the channel is closed then.
Decide(n, b) ==
  /\ Explored("Decide", <<n, b>>)
  /\ \E e \in table[n] :
       /\ e.b = b

       /\ unregs' = unregs \cup {[n |-> n, e |-> e]}
  /\ UNCHANGED <<elected, brokerVars, tableVars, regs, notes>>

\* What is removed is a registration of the broker that was meant,          \* CHECK B41
\* and none that it has made since.                                         \* CHECK B42
IsMeant(x, e) == x.b = e.b /\ IsBefore(x, e)
\* Where no master is left, nobody writes;                                  \* CHECK Masks
\* where nobody is left, there are no topics.                               \* CHECK TopicsGo
PermWithout(n, entries) ==
  IF entries = {} THEN "none" ELSE IF MayMask /\ ~HasMaster(entries) THEN "r" ELSE perm[n]

\* Which masters there were is remembered, whoever is left.                 \* CHECK Remembers
SeenWithout(n, entries) == seen[n]

\* It does what was decided some time ago.
Remove(n, b) ==
  /\ Explored("Remove", n)
  /\ \E m \in unregs :
       /\ m.n = n /\ m.e.b = b

       /\ unregs' = unregs \ {m}
       /\ LET entries == {x \in table[n] : ~IsMeant(x, m.e)}
          IN IF entries = table[n] THEN UNCHANGED <<tableVars, notes>>
             ELSE /\ table' = [table EXCEPT ![n] = entries]
                  /\ perm' = [perm EXCEPT ![n] = PermWithout(n, entries)]
                  /\ seen' = [seen EXCEPT ![n] = SeenWithout(n, entries)]
                  /\ notes' = notes \cup Notes(n, entries)
                  /\ UNCHANGED past
  /\ UNCHANGED <<elected, brokerVars, regs>>

\* It starts again, with an empty table.
Restart(n) ==
  /\ Explored("Restart", n)

  /\ table' = [table EXCEPT ![n] = {}]
  /\ perm' = [perm EXCEPT ![n] = "none"]
  /\ seen' = [seen EXCEPT ![n] = 0]
  /\ past' = [past EXCEPT ![n] = 0]
  /\ UNCHANGED <<elected, brokerVars, regs, unregs, notes>>

\* ---- What clients are told ----

\* Who acts for a master that is gone.                                      \* CHECK Smallest
WhoActs(entries) == {e \in entries : e.id = MinOf(Ids(entries))}
\* Nobody does beside a master,                                             \* CHECK NoMaster
\* nor in a group that has not asked for it.                                \* CHECK Asked
MayAct(n) == Acting /\ ~HasMaster(table[n])
\* The slave that is shown to clients as their master: a set of one entry, or of none.
Shown(n) == IF MayAct(n) THEN WhoActs(table[n]) ELSE {}

\* A client that asks finds these brokers, and may write or not (GET_ROUTEINFO_BY_TOPIC).  Nothing
\* changes: a trace shows by it what clients are told.
Found(n) ==
  IF perm[n] = "none" THEN {}
  ELSE {[id |-> IF e \in Shown(n) THEN 0 ELSE e.id, b |-> e.b] : e \in table[n]}
AnswerClient(n, found, may) ==
  /\ Explored("AnswerClient", n)
  /\ found = Found(n)
  /\ may = perm[n]

  /\ UNCHANGED vars

\* ---- What brokers and name servers say to each other, and what is missed of them ----

\* All of it changes nothing, and finite models leave it out.

Members(n) == {[id |-> e.id, b |-> e.b] : e \in table[n]}
Masters(n) == {e.b : e \in {x \in table[n] : x.id = 0}}

\* Who has registered as `id` and is found so is told the master, unless it is it (REGISTER_BROKER).
MasterFor(n, b, id) == IF id # 0 /\ [id |-> id, b |-> b] \in Members(n) THEN Masters(n) ELSE {}
AnswerRegistration(n, b, id, master) ==
  /\ master = MasterFor(n, b, id)

  /\ UNCHANGED vars

\* Who asks hears who is registered (GET_BROKER_MEMBER_GROUP).
AnswerMembers(n, found) ==
  /\ found = Members(n)

  /\ UNCHANGED vars

\* Who is registered is told whose brokerId is the smallest now, and who is gone, if somebody is
\* (NOTIFY_MIN_BROKER_ID_CHANGE).
TellSmallest(n, b, id, who, gone) ==
  /\ [id |-> id, b |-> who] \in Members(n) /\ id = MinOf(Ids(table[n]))
  /\ \E e \in table[n] : e.b = b
  /\ \A e \in table[n] : e.b \notin gone

  /\ UNCHANGED vars

\* Whoever asks is answered.
LeaveUnanswered(n) ==
  /\ n \notin NameServer

  /\ UNCHANGED vars

\* A broker that is about to stop ends what it has registered as (UNREGISTER_BROKER), everywhere, S.
EndRegistration(b, n, id) ==
  /\ up[b] /\ KnowsRole(b) /\ id = role[b].id

  /\ UNCHANGED vars
EndAll(b, S) ==
  /\ S = NameServer

  /\ UNCHANGED vars

\* A broker that hears what it is takes it.
KeepRole(b) ==
  /\ ~up[b] \/ role[b] = RoleOf(b)

  /\ UNCHANGED vars

\* Here is no time: a broker has not done for too long what it is to do again and again, register,
NoRegistration(b) ==
  /\ ~up[b] \/ ~KnowsRole(b)

  /\ UNCHANGED vars

\* say that it lives,
NoHeartbeat(b) ==
  /\ ~up[b] \/ ~KnowsRole(b)

  /\ UNCHANGED vars

\* or ask who is there.
NoPoll(b) ==
  /\ ~up[b]

  /\ UNCHANGED vars

\* And a name server has not heard for too long of who is in what it answers, S.
NoSign(n, S) ==
  /\ \A e \in table[n] : e.b \notin S

  /\ UNCHANGED vars

\* Or it takes for silent who has said that it lives.
TakeForSilent(n, b) ==
  /\ \A e \in table[n] : e.b # b

  /\ UNCHANGED vars

Says(n) ==
  \/ \E b \in Broker : TakeForSilent(n, b)
  \/ LeaveUnanswered(n) \/ AnswerMembers(n, Members(n)) \/ \E S \in SUBSET Broker : NoSign(n, S)
  \/ \E b \in Broker, id \in Broker \cup {0} : AnswerRegistration(n, b, id, MasterFor(n, b, id))
  \/ \E b, who \in Broker, id \in Broker \cup {0}, gone \in SUBSET Broker : TellSmallest(n, b, id, who, gone)
  \/ \E b \in Broker : EndRegistration(b, n, role[b].id)
BrokerSays(b) ==
  KeepRole(b) \/ NoRegistration(b) \/ NoHeartbeat(b) \/ NoPoll(b) \/ \E S \in SUBSET NameServer : EndAll(b, S)
SayingServers == {n \in NameServer : Explored("Says", n)}
SayingBrokers == {b \in Broker : Explored("Says", b)}

-----------------------------------------------------------------------------
Next ==
  \/ \E b \in Broker : Elect(b) \/ LearnRole(b) \/ Start(b) \/ Reconnect(b)
  \/ \E b \in Broker, says \in BOOLEAN : Stop(b, says)
  \/ \E b \in Broker, n \in NameServer : Register(b, n) \/ Poll(b, n)
  \/ \E b \in Broker, n \in NameServer, again \in BOOLEAN : ReceiveNote(b, n, again)
  \/ \E n \in NameServer, b \in Broker : ReceiveRegistration(n, b) \/ Decide(n, b) \/ Remove(n, b)
  \/ \E n \in NameServer : Restart(n)
  \/ \E n \in NameServer : \E found \in {Found(n)}, may \in {perm[n]} : AnswerClient(n, found, may)
  \/ \E n \in SayingServers : Says(n)
  \/ \E b \in SayingBrokers : BrokerSays(b)

Spec == Init /\ [][Next]_vars
===============================================================================

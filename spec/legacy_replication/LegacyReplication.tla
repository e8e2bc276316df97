-------------------------- MODULE LegacyReplication --------------------------
(* Master and slaves of RocketMQ without a controller: DefaultHAService.

   One broker is master for ever and takes the messages; slaves copy its log.  A slave connects and
   reports its log end, 8 bytes.  The master sends batches from there on, or from the beginning of
   its last file to a slave that reports 0, and the slave reports its log end after each.  A producer
   that asked for it waits until enough slaves have reported the end of its message (PUT_OK), or for
   some seconds (FLUSH_SLAVE_TIMEOUT: nobody knows).  There are no epochs: a report is a number, and
   nothing says which records it stands for.

   Modelled: several connections of one slave at the master, of which it has given up all but one;
   reports and batches in flight; power cuts of every broker, which take any part of the unflushed
   tail; how many slaves each producer waits for, none (ASYNC_MASTER) or some (SYNC_MASTER).
   Not modelled: failover (there is none), file retention at the master (its log starts at offset 0),
   records cut in two by a batch, half and sticky packets (a report or a batch arrives as a whole or
   not at all), duplicated or reordered bytes within a connection (TCP), flow control, waiting for
   the disk (FLUSH_DISK_TIMEOUT), consumers.

   Conventions: offsets count records from 0, ranges are half-open, -1 is "not yet".  Time is not
   modelled, nor why a connection breaks: where a step needs such an occasion, `due` says whether it
   is there.  A model has it at any time; of a run it is known.
   Source: DefaultHAService, DefaultHAConnection, DefaultHAClient, GroupTransferService and
   CommitLog.handleHA of apache/rocketmq at 8fc57f1468, HAConnection of its branch 4.9.x.          *)
EXTENDS Sequences, FiniteSets, Extrema

CONSTANTS
  Master,       \* the broker that is master
  Slave,        \* the others
  Needs,        \* for how many slaves producers wait: {0} is ASYNC_MASTER
  FileRecords   \* records in one file of the log

Broker == {Master} \cup Slave

ASSUME BrokerAssumption == IsFiniteSet(Slave) /\ Master \notin Slave
ASSUME NumberAssumption ==
  /\ Needs # {} /\ Needs \subseteq 0..Cardinality(Slave)
  /\ FileRecords \in Nat \ {0}

VARIABLES
  \* each broker
  up,          \* broker -> whether it runs
  inc,         \* broker -> incarnation: number of crashes
  begin,       \* broker -> offset of the first record of its log
  log,         \* broker -> its records; each is the master's incarnation that wrote it
  flushed,     \* broker -> offset below which a power cut takes nothing
  \* the master, in memory
  waiting,     \* puts that wait for slaves: set of [o: offset, need: number of slaves]
  stale,       \* slave -> the master's ends of connections that the slave has given up, oldest first
  \* connections
  link,        \* slave -> the connection that it holds, both ends of it (see Link), or NoLink
  \* history, read by no guard
  acked,       \* puts that waited and were answered PUT_OK: set of [o, i: the record, need]
  lost,        \* slave -> records that power cuts took from it: set of [o, i]
  ahead        \* slaves that reached beyond the master's log when a power cut shortened it

vars == <<up, inc, begin, log, flushed, waiting, stale, link, acked, lost, ahead>>
brokerVars == <<up, inc, begin, log, flushed>>
historyVars == <<lost, ahead>>

-----------------------------------------------------------------------------
Batch == [offset : Nat, recs : Seq(Nat)]
Link == [held : {TRUE},
         served : BOOLEAN,               \* the master's end is there
         reported : Nat,                 \* last log end that the slave has reported
         ack : Nat \cup {-1},            \* last report that the master has received
         next : Nat \cup {-1},           \* next offset to send
         down : Seq(Batch)]              \* batches in flight to the slave
NoLink == [held |-> FALSE]
StaleEnd == [reported : Nat, ack : Nat \cup {-1}]

Init ==
  /\ up = [b \in Broker |-> TRUE]
  /\ inc = [b \in Broker |-> 0]
  /\ begin = [b \in Broker |-> 0]
  /\ log = [b \in Broker |-> <<>>]
  /\ flushed = [b \in Broker |-> 0]
  /\ waiting = {}
  /\ stale = [s \in Slave |-> <<>>]
  /\ link = [s \in Slave |-> NoLink]
  /\ acked = {}
  /\ lost = [s \in Slave |-> {}]
  /\ ahead = {}

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, b) == TRUE

\* ---- Logs and connections ----

End(b) == begin[b] + Len(log[b])
Served(s) == link[s].held /\ link[s].served
\* The master's ends of the connections of s, oldest first.
Ends(s) ==
  IF Served(s) THEN Append(stale[s], [reported |-> link[s].reported, ack |-> link[s].ack])
  ELSE stale[s]
\* The slave gives its connection up; the master's end stays until the master notices.
GivenUp(s) == IF Served(s) THEN [stale EXCEPT ![s] = Ends(s)] ELSE stale

\* ---- Actions of any broker ----

\* The flush service writes the log through to the disk.
Flush(b) ==
  /\ Explored("Flush", b)
  /\ up[b]
  /\ flushed[b] < End(b)

  /\ flushed' = [flushed EXCEPT ![b] = End(b)]
  /\ UNCHANGED <<up, inc, begin, log, waiting, stale, link, acked, historyVars>>

\* Power cut: of the unflushed tail any prefix survives, and the log ends at e; of a log of which
\* nothing was flushed the file may be gone, too.
Crash(b, e) ==
  /\ Explored("Crash", b)
  /\ up[b]
  /\ e \in (flushed[b]..End(b)) \cup (IF flushed[b] = begin[b] THEN {0} ELSE {})

  /\ up' = [up EXCEPT ![b] = FALSE]
  /\ inc' = [inc EXCEPT ![b] = @ + 1]
  /\ begin' = [begin EXCEPT ![b] = IF e = 0 THEN 0 ELSE @]
  /\ log' = [log EXCEPT ![b] = SubSeq(@, 1, e - begin'[b])]
  /\ flushed' = [flushed EXCEPT ![b] = e]
  /\ IF b = Master
     THEN /\ waiting' = {}
          /\ stale' = [s \in Slave |-> <<>>]
          /\ link' = [s \in Slave |-> IF link[s].held THEN [link[s] EXCEPT !.served = FALSE]
                                      ELSE NoLink]
          /\ ahead' = ahead \cup
               {s \in Slave : End(s) > e \/ (link[s].held /\ link[s].next > e)}
          /\ UNCHANGED lost
     ELSE /\ stale' = GivenUp(b)
          /\ link' = [link EXCEPT ![b] = NoLink]
          /\ lost' = [lost EXCEPT ![b] = @ \cup
               {[o |-> o, i |-> log[b][o - begin[b] + 1]] : o \in MaxOf({e, begin[b]})..(End(b) - 1)}]
          /\ UNCHANGED <<waiting, ahead>>
  /\ UNCHANGED acked

\* The broker comes back in its role.
Restart(b) ==
  /\ ~up[b]

  /\ up' = [up EXCEPT ![b] = TRUE]
  /\ UNCHANGED <<inc, begin, log, flushed, waiting, stale, link, acked, historyVars>>

\* ---- Actions of the master ----

\* A producer's message is appended (CommitLog.asyncPutMessage); the producer waits, or does not.
PutMessage(need) ==
  /\ Explored("PutMessage", Master)
  /\ up[Master]

  /\ log' = [log EXCEPT ![Master] = Append(@, inc[Master])]
  /\ waiting' = IF need = 0 THEN waiting
                ELSE waiting \cup {[o |-> Len(log[Master]), need |-> need]}
  /\ UNCHANGED <<up, inc, begin, flushed, stale, link, acked, historyVars>>

\* The newest connection that was heard tells what the slave has; an older one may be from before a
\* power cut of the slave.                                                        \* CHECK NewestCounts
AckOf(s, ends) == LET heard == SelectSeq(ends, LAMBDA c : c.ack # -1)
                  IN IF heard = <<>> THEN -1 ELSE heard[Len(heard)].ack
\* Slaves are counted, not connections.                                           \* CHECK B23
Acknowledged(o) == Cardinality({s \in Slave : AckOf(s, Ends(s)) > o})
\* One slave is one slave more than none.                                         \* CHECK SyncWaits
SlavesToWaitFor(need) == need

\* Enough slaves have the record at o: the producer hears PUT_OK (GroupTransferService).
PutOk(o) ==
  /\ \E w \in waiting :
       /\ w.o = o
       /\ Acknowledged(o) >= SlavesToWaitFor(w.need)

       /\ waiting' = waiting \ {w}
       /\ acked' = acked \cup {[o |-> o, i |-> inc[Master], need |-> w.need]}
  /\ UNCHANGED <<brokerVars, stale, link, historyVars>>

\* Nobody hears that it is not known while the master knows.                       \* CHECK TimeoutLacks
Lacks(w) == Acknowledged(w.o) < SlavesToWaitFor(w.need)

\* It took too long: the producer hears FLUSH_SLAVE_TIMEOUT, and the record stays.
PutTimeout(o, due) ==
  /\ due
  /\ \E w \in waiting :
       /\ w.o = o
       /\ Lacks(w)

       /\ waiting' = waiting \ {w}
  /\ UNCHANGED <<brokerVars, stale, link, acked, historyVars>>

\* A report beyond the master's own log says nothing about the master's records.  \* CHECK B52
\* This holds for the first report of a connection, too.                          \* CHECK FirstReport
AcceptsReport(s, a) == a <= Len(log[Master])
FileOf(o) == (o \div FileRecords) * FileRecords
LastFile == IF log[Master] = <<>> THEN 0 ELSE FileOf(Len(log[Master]) - 1)
\* Where to begin for a slave without a log: its reports will stand for all records before them, so
\* it must get every record that a producer waits for.                            \* CHECK StartCoversWaiting
StartForEmpty == MinOf({LastFile} \cup {FileOf(w.o) : w \in waiting})

\* The master hears that the slave has the log up to a; the first report starts the transfer.
ReceiveReport(s, a) ==
  /\ Served(s)
  /\ a \in (IF link[s].ack = -1 THEN link[s].reported ELSE link[s].ack)..link[s].reported
  /\ AcceptsReport(s, a)

  /\ link' = [link EXCEPT ![s].ack = a,
                          ![s].next = IF @ # -1 THEN @ ELSE IF a = 0 THEN StartForEmpty ELSE a]
  /\ UNCHANGED <<brokerVars, waiting, stale, acked, historyVars>>

\* A report that was in flight when the slave gave the connection up arrives.
ReceiveStaleReport(s, j, a) ==
  /\ j \in DOMAIN stale[s]
  /\ a \in (IF stale[s][j].ack = -1 THEN 0 ELSE stale[s][j].ack)..stale[s][j].reported
  /\ AcceptsReport(s, a)

  /\ stale' = [stale EXCEPT ![s][j].ack = a]
  /\ UNCHANGED <<brokerVars, waiting, link, acked, historyVars>>

\* What a connection may send: also what the disk of the master may lose.
Sendable == Len(log[Master])

\* The master sends the next n records; n = 0 is a part of one, or a heartbeat after a time without
\* a word.
Transfer(s, n, due) ==
  /\ Explored(IF n = 0 THEN "Heartbeat" ELSE "Transfer", s)
  /\ due
  /\ Served(s)
  /\ link[s].next # -1
  /\ n = 0 \/ link[s].next + n <= Sendable

  /\ LET from == link[s].next
         batch == [offset |-> from, recs |-> SubSeq(log[Master], from + 1, from + n)]
     IN link' = [link EXCEPT ![s].next = from + n, ![s].down = Append(@, batch)]
  /\ UNCHANGED <<brokerVars, waiting, stale, acked, historyVars>>

\* A report that cannot be about the master's log closes the connection; no other report does.
RefuseReport(s, a) ==
  /\ Served(s)
  /\ a \in (IF link[s].ack = -1 THEN 0 ELSE link[s].ack)..link[s].reported
  /\ ~AcceptsReport(s, a)

  /\ link' = [link EXCEPT ![s].served = FALSE, ![s].down = <<>>]
  /\ UNCHANGED <<brokerVars, waiting, stale, acked, historyVars>>

\* The master closes a connection that broke, or over which it heard nothing for too long, or what no
\* slave sends.
CloseConnection(s, due) ==
  /\ Explored("CloseConnection", s)
  /\ due
  /\ Served(s)

  /\ link' = [link EXCEPT ![s].served = FALSE, ![s].down = <<>>]
  /\ UNCHANGED <<brokerVars, waiting, stale, acked, historyVars>>

\* The master notices that a slave has given a connection up.
DropStale(s, j, due) ==
  /\ due
  /\ j \in DOMAIN stale[s]

  /\ stale' = [stale EXCEPT ![s] = SubSeq(@, 1, j - 1) \o SubSeq(@, j + 1, Len(@))]
  /\ UNCHANGED <<brokerVars, waiting, link, acked, historyVars>>

\* ---- Actions of the slave ----

\* The slave connects, some time after it had a connection, and reports its log end.
Connect(s, due) ==
  /\ due
  /\ up[Master] /\ up[s]
  /\ link[s] = NoLink

  /\ link' = [link EXCEPT ![s] = [held |-> TRUE, served |-> TRUE, reported |-> End(s),
                                  ack |-> -1, next |-> -1, down |-> <<>>]]
  /\ UNCHANGED <<brokerVars, waiting, stale, acked, historyVars>>

\* A batch continues the slave's log exactly; an empty log begins anywhere.       \* CHECK OffsetContinues
Continues(s, p) == p.offset = End(s) \/ End(s) = 0

\* The slave appends a batch and reports its log end.  An empty log begins at the first batch; one
\* without a whole record may be a piece of a record, or a heartbeat, which lets no log begin.
ReceiveTransfer(s) ==
  /\ link[s].held
  /\ link[s].down # <<>>
  /\ Continues(s, Head(link[s].down))

  /\ LET batch == Head(link[s].down)
     IN /\ \E b \in IF End(s) # 0 THEN {begin[s]}
                    ELSE IF batch.recs = <<>> THEN {0, batch.offset} ELSE {batch.offset} :
             begin' = [begin EXCEPT ![s] = b]
        /\ flushed' = [flushed EXCEPT ![s] = IF End(s) = 0 THEN begin'[s] ELSE @]
        /\ log' = [log EXCEPT ![s] = @ \o batch.recs]
        /\ link' = [link EXCEPT ![s].down = Tail(@), ![s].reported = begin'[s] + Len(log'[s])]
  /\ UNCHANGED <<up, inc, waiting, stale, acked, historyVars>>

\* A slave that said nothing for some time reports its log end again.
Report(s, due) ==
  /\ due
  /\ link[s].held

  /\ link' = [link EXCEPT ![s].reported = End(s)]
  /\ UNCHANGED <<brokerVars, waiting, stale, acked, historyVars>>

\* The slave sees its connection closed, or closes one that is silent, or over which it hears what no
\* master sends; what is in flight is lost.
Disconnect(s, due) ==
  /\ Explored("Disconnect", s)
  /\ due
  /\ link[s].held

  /\ stale' = GivenUp(s)
  /\ link' = [link EXCEPT ![s] = NoLink]
  /\ UNCHANGED <<brokerVars, waiting, acked, historyVars>>

\* ---- All brokers ----

\* A run whose faults have ended comes to this: nobody waits, and the master has heard that all slaves
\* have its log, but for those that were ahead of it.
Healed ==
  /\ \A b \in Broker : up[b]
  /\ waiting = {}
  /\ \A s \in Slave \ ahead : End(s) = Len(log[Master]) /\ AckOf(s, Ends(s)) = End(s)

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
Next ==
  \/ \E b \in Broker : Flush(b)
  \/ \E b \in Broker, e \in Nat : Crash(b, e)
  \/ \E b \in Broker : Restart(b)
  \/ \E need \in Needs : PutMessage(need)
  \/ \E o \in Nat : PutOk(o)
  \/ \E o \in Nat, due \in BOOLEAN : PutTimeout(o, due)
  \/ \E s \in Slave, a \in Nat : ReceiveReport(s, a)
  \/ \E s \in Slave, j \in Nat, a \in Nat : ReceiveStaleReport(s, j, a)
  \/ \E s \in Slave, n \in Nat, due \in BOOLEAN : Transfer(s, n, due)
  \/ \E s \in Slave, a \in Nat : RefuseReport(s, a)
  \/ \E s \in Slave, due \in BOOLEAN : CloseConnection(s, due)
  \/ \E s \in Slave, j \in Nat, due \in BOOLEAN : DropStale(s, j, due)
  \/ \E s \in Slave, due \in BOOLEAN : Connect(s, due)
  \/ \E s \in Slave : ReceiveTransfer(s)
  \/ \E s \in Slave, due \in BOOLEAN : Report(s, due)
  \/ \E s \in Slave, due \in BOOLEAN : Disconnect(s, due)
  \/ Healed

Spec == Init /\ [][Next]_vars
===============================================================================

--------------------------- MODULE EpochTruncation ---------------------------
(* Epoch-based log truncation and transfer of RocketMQ 5's AutoSwitchHAService.

   A broker group has one master at a time, but a master may be slow to learn that it was
   replaced, and elections may be unclean: any broker may be elected.  So logs diverge.  Every
   master has a masterEpoch of the controller and remembers where in the log that began: the epoch
   cache, a list of (epoch, start offset), kept in the epoch file.  A slave that connects compares
   caches with the master, cuts its log at the consistent point, and then copies batches that never
   cross an epoch, so that it learns each epoch with its first batch.
   Without it two replicas keep different bytes at one offset, and nobody notices.

   Modelled: an abstract controller, zombie masters, handshake, truncation, transfer and heartbeat
   packets in flight, acknowledgements, reconnects, power cuts that lose any part of the unflushed
   tail, flushed records that a broker loses while it is down, and the durable copies of log and cache.
   Not modelled: SyncStateSet and confirmOffset, file retention (every log starts at offset 0),
   asynchronous learners, start at the last file, records cut in two by a batch, duplicated or
   reordered bytes within a connection (TCP), several acknowledgements in flight (only the largest),
   late answers of the controller, an epoch file that is half written (replaced in one step; a mutant
   loses its last entry), the layout of packets, time and what ends a connection: where a step needs
   such an occasion, `due` says whether it had one.

   Conventions: offsets count records from 0, ranges are half-open, -1 is "no bound" or "not yet".
   Source: AutoSwitchHAService, AutoSwitchHAClient, AutoSwitchHAConnection, EpochFileCache and
   CheckpointFile of apache/rocketmq at 8fc57f1468; published rule: RIP-44, "log truncation".     *)
EXTENDS FiniteSets, EpochCache, Prefixes

CONSTANTS
  Broker,      \* the brokers of one group
  None         \* stands for "no broker"

ASSUME BrokerAssumption == IsFiniteSet(Broker) /\ Broker # {} /\ None \notin Broker

VARIABLES
  \* the controller
  ctl,         \* [master: elected broker or None, epoch: its masterEpoch]
  \* each broker, in memory
  role,        \* broker -> "Master" (maybe a zombie), "Slave" or "Down"
  known,       \* broker -> highest masterEpoch learnt in this incarnation
  inc,         \* broker -> incarnation: number of crashes
  log,         \* broker -> sequence; element o + 1 is the epoch in which record o was first written
  epochs,      \* broker -> epoch cache: sequence of [e: epoch, s: start, end: end or -1]
  received,    \* broker -> currentReceivedEpoch: epoch of the last transfer header it has seen
  \* each broker, on disk
  disk,        \* broker -> what a recovery scan of the log files would find, flushed or not
  flushed,     \* broker -> number of records that survive any power cut
  epochsDisk,  \* broker -> epoch file: sequence of [e, s]
  \* connections
  link,        \* slave -> its connection, both ends of it (see Link), or NoLink
  \* history, read by no guard
  acted   \* number of BecomeMaster steps that used ctl.epoch

vars == <<ctl, role, known, inc, log, epochs, received, disk, flushed, epochsDisk, link, acted>>
logVars == <<log, disk, flushed>>
epochVars == <<epochs, epochsDisk>>

-----------------------------------------------------------------------------
HandshakeReply == [type : {"Handshake"}, epoch : Nat, offset : Nat, entries : Seq(EpochStart)]
TransferBatch == [type : {"Transfer"}, epoch : Nat, start : Nat, offset : Nat, recs : Seq(Nat)]

Link == [peer : Broker,                        \* the master
         open : BOOLEAN,                       \* the master has neither crashed nor changed its role
         phase : {"Handshake", "Transfer"},    \* HAConnectionState of the slave
         down : Seq(HandshakeReply \cup TransferBatch),   \* packets in flight to the slave
         reported : Nat \cup {-1},             \* last offset that the slave has acknowledged
         ack : Nat \cup {-1},                  \* last acknowledgement that the master has received
         next : Nat \cup {-1},                 \* next offset to send
         cur : EpochEntry]                     \* epoch of that offset, as cached by the sender
NoLink == [peer |-> None]

Init ==
  /\ ctl = [master |-> None, epoch |-> 0]
  /\ role = [b \in Broker |-> "Slave"]
  /\ known = [b \in Broker |-> 0]
  /\ inc = [b \in Broker |-> 0]
  /\ log = [b \in Broker |-> <<>>]
  /\ epochs = [b \in Broker |-> <<>>]
  /\ received = [b \in Broker |-> 0]
  /\ disk = [b \in Broker |-> <<>>]
  /\ flushed = [b \in Broker |-> 0]
  /\ epochsDisk = [b \in Broker |-> <<>>]
  /\ link = [b \in Broker |-> NoLink]
  /\ acted = 0

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, b) == TRUE

\* ---- Files and connections ----

\* What the epoch file holds after the cache q is stored over the old content.  \* CHECK B06
StoredEpochs(old, q) == Starts(q)
\* Writing log q over files that hold d: what lies beyond the end of q stays where it is.
Written(d, q) == q \o SubSeq(d, Len(q) + 1, Len(d))
Linked(s, m) == link[s].peer = m /\ link[s].open
\* Broker b gives its connection up, and is no longer the master that its slaves knew.
WithoutLinksOf(b) ==
  [s \in Broker |-> IF s = b THEN NoLink
                    ELSE IF link[s].peer = b THEN [link[s] EXCEPT !.open = FALSE] ELSE link[s]]

\* ---- Actions of the controller ----

\* The controller elects any broker, clean or unclean, with a new masterEpoch.
ElectMaster(b) ==
  /\ Explored("ElectMaster", b)

  /\ ctl' = [master |-> b, epoch |-> ctl.epoch + 1]
  /\ acted' = 0
  /\ UNCHANGED <<role, known, inc, logVars, epochVars, received, link>>

\* The controller finds no candidate; the masterEpoch is spent (ReplicasInfoManager.handleElectMaster).
ElectNobody ==
  /\ Explored("ElectNobody", None)

  /\ ctl' = [master |-> None, epoch |-> ctl.epoch + 1]
  /\ acted' = 0
  /\ UNCHANGED <<role, known, inc, logVars, epochVars, received, link>>

\* ---- Actions of any broker ----

\* A sender follows its master's cache when an epoch is appended to it.         \* CHECK B02
RefreshedLink(l, q) == IF l.next = -1 THEN l ELSE [l EXCEPT !.cur = EpochAt(q, l.next)]
\* A master's epoch never begins beyond what its disk is sure to keep.          \* CHECK FlushBeforeEpoch
FlushedAtBecomeMaster(b) == Len(log[b])

\* An elected broker learns it (AutoSwitchHAService.changeToMaster, or
\* changeToMasterWhenLastRoleIsMaster, which keeps the connections of its slaves).
BecomeMaster(b) ==
  /\ role[b] # "Down"
  /\ ctl.master = b
  /\ known[b] < ctl.epoch

  /\ LET q == AppendEpoch(TruncateSuffixByEpoch(epochs[b], ctl.epoch), ctl.epoch, Len(log[b]))
     IN /\ epochs' = [epochs EXCEPT ![b] = q]
        /\ epochsDisk' = [epochsDisk EXCEPT ![b] = StoredEpochs(@, q)]
        /\ link' = [s \in Broker |-> IF s = b THEN NoLink
                                     ELSE IF Linked(s, b) THEN RefreshedLink(link[s], q)
                                     ELSE link[s]]
  /\ role' = [role EXCEPT ![b] = "Master"]
  /\ known' = [known EXCEPT ![b] = ctl.epoch]
  /\ received' = [received EXCEPT ![b] = 0]
  /\ flushed' = [flushed EXCEPT ![b] = FlushedAtBecomeMaster(b)]
  /\ acted' = acted + 1
  /\ UNCHANGED <<ctl, inc, log, disk>>

\* A broker learns of a master that it is not (AutoSwitchHAService.changeToSlave): it drops its
\* connections; a master that was replaced stops here to be a zombie.  See LearnEpoch, too.
BecomeSlave(b) ==
  /\ Explored("BecomeSlave", b)
  /\ role[b] # "Down"
  /\ ctl.master \notin {b, None}     \* while there is none, brokers ask for one and change nothing
  /\ known[b] < ctl.epoch

  /\ role' = [role EXCEPT ![b] = "Slave"]
  /\ known' = [known EXCEPT ![b] = ctl.epoch]
  /\ received' = [received EXCEPT ![b] = 0]
  /\ link' = WithoutLinksOf(b)
  /\ UNCHANGED <<ctl, inc, logVars, epochVars, acted>>

\* The flush service writes the log through to the disk.
Flush(b) ==
  /\ Explored("Flush", b)
  /\ role[b] # "Down"
  /\ flushed[b] < Len(log[b])

  /\ flushed' = [flushed EXCEPT ![b] = Len(log[b])]
  /\ UNCHANGED <<ctl, role, known, inc, log, disk, epochVars, received, link, acted>>

\* What a power cut may leave of the epoch file.                                \* CHECK B86
SurvivingEpochs(file) == {file}

\* Power cut: of the unflushed tail any prefix survives; k records are left.
Crash(b, k) ==
  /\ Explored("Crash", b)
  /\ role[b] # "Down"
  /\ k \in flushed[b]..Len(disk[b])

  /\ \E file \in SurvivingEpochs(epochsDisk[b]) :
       /\ epochs' = [epochs EXCEPT ![b] = WithEnds(file)]
       /\ epochsDisk' = [epochsDisk EXCEPT ![b] = file]
  /\ log' = [log EXCEPT ![b] = Prefix(disk[b], k)]
  /\ disk' = [disk EXCEPT ![b] = Prefix(@, k)]
  /\ flushed' = [flushed EXCEPT ![b] = k]
  /\ role' = [role EXCEPT ![b] = "Down"]
  /\ known' = [known EXCEPT ![b] = 0]
  /\ received' = [received EXCEPT ![b] = 0]
  /\ inc' = [inc EXCEPT ![b] = @ + 1]
  /\ link' = WithoutLinksOf(b)
  /\ UNCHANGED <<ctl, acted>>

\* While a broker is down, an operator or its disk loses what was flushed, but for k records.
LoseLog(b, k) ==
  /\ Explored("LoseLog", b)
  /\ role[b] = "Down"
  /\ k \in 0..(Len(log[b]) - 1)

  /\ log' = [log EXCEPT ![b] = Prefix(@, k)]
  /\ disk' = [disk EXCEPT ![b] = Prefix(@, k)]
  /\ flushed' = [flushed EXCEPT ![b] = k]
  /\ UNCHANGED <<ctl, role, known, inc, epochVars, received, link, acted>>

\* The store of a broker that is down is emptied, as an operator does whose broker refuses to start:
\* nobody but its epoch file can say to which epochs the records belong.
LoseStore(b) ==
  /\ Explored("LoseStore", b)
  /\ role[b] = "Down"

  /\ log' = [log EXCEPT ![b] = <<>>]
  /\ disk' = [disk EXCEPT ![b] = <<>>]
  /\ flushed' = [flushed EXCEPT ![b] = 0]
  /\ epochs' = [epochs EXCEPT ![b] = <<>>]
  /\ epochsDisk' = [epochsDisk EXCEPT ![b] = <<>>]
  /\ UNCHANGED <<ctl, role, known, inc, received, link, acted>>

\* A broker that restarts remembers the last epoch it took part in.             \* CHECK B10
KnownAtRestart(q) == LastEpoch(q)

\* The broker comes back as a slave and makes its epoch cache fit its log.
Restart(b) ==
  /\ Explored("Restart", b)
  /\ role[b] = "Down"

  /\ LET q == RecoverEpochs(epochs[b], Len(log[b]))
     IN /\ epochs' = [epochs EXCEPT ![b] = q]
        /\ epochsDisk' = [epochsDisk EXCEPT ![b] = StoredEpochs(@, q)]
        /\ known' = [known EXCEPT ![b] = KnownAtRestart(q)]
  /\ role' = [role EXCEPT ![b] = "Slave"]
  /\ UNCHANGED <<ctl, inc, logVars, received, link, acted>>

\* ---- Actions of the master ----

\* A producer's message is appended (putMessage); a zombie does not know better.
PutMessage(m) ==
  /\ Explored("PutMessage", m)
  /\ role[m] = "Master"

  /\ log' = [log EXCEPT ![m] = Append(@, known[m])]
  /\ disk' = [disk EXCEPT ![m] = Written(@, log'[m])]
  /\ UNCHANGED <<ctl, role, known, inc, flushed, epochVars, received, link, acted>>

\* Only a master answers handshakes.                                            \* CHECK MasterAnswers
MayAnswer(m) == role[m] = "Master"

\* The master answers a slave's handshake request with its epoch cache and its log end.
Handshake(m, s) ==
  /\ Explored("Handshake", s)
  /\ m # s
  /\ MayAnswer(m)
  /\ role[m] # "Down"
  /\ role[s] = "Slave"
  /\ link[s] = NoLink

  /\ LET reply == [type |-> "Handshake", epoch |-> LastEpoch(epochs[m]), offset |-> Len(log[m]),
                   entries |-> Starts(epochs[m])]
     IN link' = [link EXCEPT ![s] =
                   [peer |-> m, open |-> TRUE, phase |-> "Handshake", down |-> <<reply>>,
                    reported |-> -1, ack |-> -1, next |-> -1, cur |-> NoEntry]]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, acted>>

\* The master hears that the slave has the log up to a; the first report starts the transfer.
ReceiveAck(m, s, a) ==
  /\ Linked(s, m)
  /\ link[s].phase = "Transfer"
  /\ a \in (IF link[s].ack = -1 THEN link[s].reported ELSE link[s].ack)..link[s].reported

  /\ link' = [link EXCEPT ![s] =
                IF @.next # -1 THEN [@ EXCEPT !.ack = a]
                ELSE [@ EXCEPT !.ack = a, !.next = a, !.cur = EpochAt(epochs[m], a)]]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, acted>>

\* A batch carries the epoch of its own records, not of those that follow.      \* CHECK B05
BatchEntry(m, cur, next, n) == cur

\* The master sends the next n records, all of one epoch, and goes to the next epoch when it has
\* sent the last record of this one; n = 0 is a piece of a record, or a heartbeat. \* CHECK LateBorder
Transfer(m, s, n) ==
  /\ Explored("Transfer", s)
  /\ Linked(s, m)
  /\ link[s].next # -1
  /\ link[s].cur # NoEntry
  /\ n \in 0..((IF link[s].cur.end = -1 THEN Len(log[m]) ELSE link[s].cur.end) - link[s].next)

  /\ LET l == link[s]
         entry == BatchEntry(m, l.cur, l.next, n)
         batch == [type |-> "Transfer", epoch |-> entry.e, start |-> entry.s, offset |-> l.next,
                   recs |-> SubSeq(log[m], l.next + 1, l.next + n)]
     IN link' = [link EXCEPT ![s].down = Append(@, batch),
                             ![s].next = l.next + n,
                             ![s].cur = IF @.end = l.next + n THEN EpochAt(epochs[m], @.end) ELSE @]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, acted>>

\* A master that said nothing for some time sends a batch without a byte.
Heartbeat(m, s, due) ==
  /\ due
  /\ Transfer(m, s, 0)

-----------------------------------------------------------------------------
\* ---- Actions of the slave ----

\* A slave follows no master that is older than what it knows.                  \* CHECK B11
MayFollow(s, epoch) == epoch >= known[s]
\* A truncation is on the disk before anybody hears of it.                     \* CHECK B07
TruncatedDisk(d, o) == Prefix(d, o)
\* After a handshake, a header is compared with the last entry of the cut cache. \* CHECK B01
ReceivedAfterHandshake(s, q) == LastEpoch(q)
\* A slave reports its own log end, never an offset that it only heard of.      \* CHECK ReportOwnEnd
ReportAfterTruncate(cp, end) == Min(cp, end)

\* The slave cuts its log and its cache at the consistent point and reports its log end
\* (AutoSwitchHAClient.doTruncate).
ReceiveHandshake(s) ==
  /\ link[s] # NoLink
  /\ link[s].phase = "Handshake"
  /\ link[s].down # <<>>
  /\ MayFollow(s, Head(link[s].down).epoch)

  /\ LET reply == Head(link[s].down)
         cp == ConsistentPoint(epochs[s], Len(log[s]), reply.entries, reply.offset)
         q == TruncateSuffixByOffset(epochs[s], cp)
     IN /\ log' = [log EXCEPT ![s] = Prefix(@, Min(cp, Len(@)))]
        /\ disk' = [disk EXCEPT ![s] = IF cp < Len(log[s]) THEN TruncatedDisk(@, cp) ELSE @]
        \* A cut flushes up to it; without a cut the flush service may have run meanwhile.
        /\ \E f \in IF cp < Len(log[s]) THEN {cp} ELSE {flushed[s], Len(log[s])} :
             flushed' = [flushed EXCEPT ![s] = f]
        /\ epochs' = [epochs EXCEPT ![s] = q]
        /\ epochsDisk' = [epochsDisk EXCEPT ![s] = StoredEpochs(@, q)]
        /\ received' = [received EXCEPT ![s] = ReceivedAfterHandshake(s, q)]
        /\ known' = [known EXCEPT ![s] = reply.epoch]
        /\ link' = [link EXCEPT ![s].phase = "Transfer",
                                ![s].down = Tail(@),
                                ![s].reported = ReportAfterTruncate(cp, Len(log'[s]))]
  /\ UNCHANGED <<ctl, role, inc, acted>>

\* The slave refuses the answer of a master that is older than what it knows, and no other.
RefuseHandshake(s) ==
  /\ Explored("Disconnect", s)
  /\ link[s] # NoLink
  /\ link[s].phase = "Handshake"
  /\ link[s].down # <<>>
  /\ ~MayFollow(s, Head(link[s].down).epoch)

  /\ link' = [link EXCEPT ![s] = NoLink]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, acted>>

\* A batch continues the slave's log exactly.                                   \* CHECK OffsetContinues
Continues(p, q) == p.offset = Len(q)
\* A batch tells its slave of a master that was elected again under the open connection.
\*                                                                              \* CHECK KnownFollowsBatch
KnownAfterBatch(s, epoch) == MaxOf({known[s], epoch})

\* The slave appends a batch, notes its epoch if that is new to it, and reports its log end.
ReceiveTransfer(s) ==
  /\ link[s] # NoLink
  /\ link[s].phase = "Transfer"
  /\ link[s].down # <<>>
  /\ Continues(Head(link[s].down), log[s])

  /\ LET batch == Head(link[s].down)
         q == IF batch.epoch = received[s] THEN epochs[s]
              ELSE AppendEpoch(epochs[s], batch.epoch, batch.start)
     IN /\ log' = [log EXCEPT ![s] = @ \o batch.recs]
        /\ disk' = [disk EXCEPT ![s] = Written(@, log'[s])]
        /\ epochs' = [epochs EXCEPT ![s] = q]
        /\ epochsDisk' = [epochsDisk EXCEPT ![s] = StoredEpochs(@, q)]
        /\ received' = [received EXCEPT ![s] = batch.epoch]
        /\ known' = [known EXCEPT ![s] = KnownAfterBatch(s, batch.epoch)]
        /\ link' = [link EXCEPT ![s].down = Tail(@), ![s].reported = Len(log'[s])]
  /\ UNCHANGED <<ctl, role, inc, flushed, acted>>

\* A slave keeps its connection only if that goes to the master that was elected again.
\*                                                                              \* CHECK KeptLink
MayKeepLink(s) == link[s].peer \in {ctl.master, None}

\* The slave hears that its master was elected again, perhaps before that one does, and keeps its
\* connection, if it has one, even one that its master has closed meanwhile: it sees that later
\* (ReplicasManager.changeToSlave, AutoSwitchHAService.changeToSlaveWhenMasterNotChange).  Who
\* cannot tell that it is the same master drops it: BecomeSlave.
LearnEpoch(s) ==
  /\ Explored("LearnEpoch", s)
  /\ role[s] = "Slave"
  /\ ctl.master \notin {s, None}
  /\ known[s] < ctl.epoch
  /\ MayKeepLink(s)

  /\ known' = [known EXCEPT ![s] = ctl.epoch]
  /\ UNCHANGED <<ctl, role, inc, logVars, epochVars, received, link, acted>>

\* A slave that said nothing for some time reports its log end again.
Report(s, due) ==
  /\ due
  /\ link[s] # NoLink
  /\ link[s].phase = "Transfer"

  /\ link' = [link EXCEPT ![s].reported = Len(log[s])]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, acted>>

\* The slave sees its connection closed; what was in flight is lost.
Disconnect(s) ==
  /\ Explored("Disconnect", s)
  /\ link[s] # NoLink

  /\ link' = [link EXCEPT ![s] = NoLink]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, acted>>

\* The slave or its master closes a connection that was silent for too long, or over which it heard
\* what no honest peer sends.
CloseConnection(s, due) ==
  /\ Explored("Disconnect", s)
  /\ due
  /\ link[s] # NoLink

  /\ link' = [link EXCEPT ![s] = NoLink]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, acted>>

\* A run whose faults have ended comes to this: the elected broker is the master, the others have its
\* log, and it has heard so of those that are connected.
Healed ==
  /\ ctl.master # None
  /\ role[ctl.master] = "Master" /\ known[ctl.master] = ctl.epoch
  /\ \A s \in Broker \ {ctl.master} :
       /\ role[s] = "Slave" /\ log[s] = log[ctl.master]
       /\ Linked(s, ctl.master) => link[s].ack = Len(log[s])

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
Next ==
  \/ \E b \in Broker : ElectMaster(b)
  \/ ElectNobody
  \/ \E b \in Broker : BecomeMaster(b)
  \/ \E b \in Broker : BecomeSlave(b)
  \/ \E b \in Broker : Flush(b)
  \/ \E b \in Broker, k \in Nat : Crash(b, k)
  \/ \E b \in Broker, k \in Nat : LoseLog(b, k)
  \/ \E b \in Broker : LoseStore(b)
  \/ \E b \in Broker : Restart(b)
  \/ \E m \in Broker : PutMessage(m)
  \/ \E m, s \in Broker : Handshake(m, s)
  \/ \E m, s \in Broker, a \in Nat : ReceiveAck(m, s, a)
  \/ \E m, s \in Broker, n \in Nat : Transfer(m, s, n)
  \/ \E m, s \in Broker, due \in BOOLEAN : Heartbeat(m, s, due)
  \/ \E s \in Broker : ReceiveHandshake(s)
  \/ \E s \in Broker : RefuseHandshake(s)
  \/ \E s \in Broker : ReceiveTransfer(s)
  \/ \E s \in Broker : LearnEpoch(s)
  \/ \E s \in Broker, due \in BOOLEAN : Report(s, due)
  \/ \E s \in Broker : Disconnect(s)
  \/ \E s \in Broker, due \in BOOLEAN : CloseConnection(s, due)
  \/ Healed

Spec == Init /\ [][Next]_vars
=============================================================================

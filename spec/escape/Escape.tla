-------------------------------- MODULE Escape --------------------------------
(* Where a slave that acts for its master puts what is due: into the logs of other masters.

   A slave may not write: its log is its master's.  Yet delayed messages come due in it, transactions end
   that nobody has ended, and consumers pop what it has.  So what would be appended to the log of the group
   escapes to another master: to one in the same process, if there is one (BrokerContainer), else over the
   network.  The progress of a service says what need not be put any more; it is kept on the disk, and the
   master that comes back takes it over (PreOnline).  So it may pass a record only when a master has it.
   A half message stays one: it goes to another master as a half message, and whoever has it asks the
   producer, who commits or rolls back.
   A check point says what a consumer has popped, and an ACK that it has done it.  They cancel each other where
   they meet, in one log; a check point that is alone is revived: the message is delivered again.

   Modelled: records that are due, one after the other, and a window of them under way; masters of other
   groups that die and come back with their logs; what the slave hears of them, which may be of before, and
   forgets when it stops; puts that come late or never, also after the slave waits for them no longer, and
   whose answer is lost, or says that it failed although it did not; a slave that begins and ceases to act,
   stops and starts again; halves that a producer ends at some time, early enough for the slave's own log to
   have that, or later; check points, their ACKs, and time that is up for both.
   Not modelled: order and time; the group's own master (it is gone; PreOnline has its return); how often a
   put is tried again; several slaves, topics, ACKs in batches, and changes of the invisible time.

   Source: EscapeBridge, ScheduleMessageService, TransactionalMessageServiceImpl, TimerMessageStore.doPut,
   PopBufferMergeService, AckMessageProcessor, PopReviveService of apache/rocketmq at 8fc57f1468; published
   rule: RIP-32, "slave acting master", second-level messages.                                     *)
EXTENDS FiniteSets, Naturals

CONSTANTS
  Master,        \* masters of other groups
  Local,         \* those in the same process
  Delayed,       \* records: delayed messages, by their numbers
  Half,          \* records: half messages
  Pop,           \* what consumers pop from the slave
  Window,        \* records under way at a time
  RemoteEscape,  \* whether it puts to masters of other processes, too (enableRemoteEscape)
  Released,      \* whether it does as released programs do; what that is says each operator that asks
  Before         \* pairs of masters: to the first one released programs send check points and ACKs

Record == Delayed \cup Half

ASSUME MasterAssumption == Master # {} /\ IsFiniteSet(Master) /\ Local \subseteq Master
ASSUME RecordAssumption == IsFiniteSet(Record) /\ Record = 1..Cardinality(Record) /\ Delayed \cap Half = {}
ASSUME WindowAssumption == Window \in Nat \ {0}
ASSUME ConfigAssumption ==
  /\ RemoteEscape \in BOOLEAN /\ Released \in BOOLEAN
  /\ \A m, n \in Master : m # n => (<<m, n>> \in Before) # (<<n, m>> \in Before)

VARIABLES
  up,          \* whether the slave runs
  acts,        \* whether it runs a master's services
  known,       \* masters of which it knows that they run
  progress,    \* records that its services have passed
  saved,       \* the same, on its disk
  under,       \* puts for which it waits: set of [r, m]
  sent,        \* puts on their way, whether it waits for them or not: set of [r, m]
  heard,       \* records whose put was answered with PUT_OK, since it started
  failed,      \* records whose last put failed, since it started
  own,         \* what was appended to its own log: nothing
  \* other masters
  alive,       \* master -> whether it runs
  log,         \* master -> records that it has
  \* producers of half messages
  ended,       \* half -> what its producer wants: "open", "commit", "rollback"
  op,          \* halves of which the slave's own log says that they ended
  visible,     \* records that consumers can read
  \* pops
  popSent,     \* check points and ACKs that the slave has sent: set of [p, m, is]
  ckAt,        \* pop -> the master that was given its check point, or None
  ackAt,       \* pop -> masters that were given its ACK
  accepted,    \* pops whose consumer was told that its ACK is stored
  revived      \* pops that were delivered again

vars == <<up, acts, known, progress, saved, under, sent, heard, failed, own, alive, log, ended, op, visible,
          popSent, ckAt, ackAt, accepted, revived>>
slaveVars == <<up, acts, known, progress, saved, under, heard, failed, own>>
halfVars == <<ended, op>>
popVars == <<popSent, ckAt, ackAt, accepted, revived>>

-----------------------------------------------------------------------------
None == "none"

\* Of which masters the slave may know when it is looked at first.
KnownAtFirst == SUBSET Master

Init ==
  /\ up = TRUE
  /\ acts = FALSE
  /\ known \in KnownAtFirst
  /\ progress = 0
  /\ saved = 0
  /\ under = {}
  /\ sent = {}
  /\ heard = {}
  /\ failed = {}
  /\ own = {}
  /\ alive = [m \in Master |-> TRUE]
  /\ log = [m \in Master |-> {}]
  /\ ended = [h \in Half |-> "open"]
  /\ op = {}
  /\ visible = {}
  /\ popSent = {}
  /\ ckAt = [p \in Pop |-> None]
  /\ ackAt = [p \in Pop |-> {}]
  /\ accepted = {}
  /\ revived = {}

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, x) == TRUE

\* ---- The slave ----

\* It hears that it has the smallest brokerId of its group, or that somebody else has.
Act(is) ==
  /\ Explored("Act", is)
  /\ up
  /\ acts # is

  /\ acts' = is
  /\ UNCHANGED <<up, known, progress, saved, under, sent, heard, failed, own, alive, log, halfVars, visible,
                 popVars>>

\* It asks a name server which masters there are, and hears what was so some time ago.   \* CHECK B47
Asks(m) == TRUE
LearnRoute(m, runs) ==
  /\ Explored("LearnRoute", <<m, runs>>)
  /\ up
  /\ Asks(m)
  /\ (m \in known) # runs

  /\ known' = IF runs THEN known \cup {m} ELSE known \ {m}
  /\ UNCHANGED <<up, acts, progress, saved, under, sent, heard, failed, own, alive, log, halfVars, visible,
                 popVars>>

\* Masters to which it may put: one in its own process, if it knows of one.  \* CHECK LocalFirst
Targets == IF known \cap Local # {} THEN known \cap Local ELSE IF RemoteEscape THEN known ELSE {}
\* Where there is no other master, it waits.                                \* CHECK B48
MayPutHere(r) == FALSE

IsDue(r) == progress < r /\ r <= progress + Window
IsUnder(r) == \E x \in under : x.r = r

\* It puts a record that is due, and whose put is not under way.
Put(r, m) ==
  /\ Explored("Put", <<r, m>>)
  /\ up
  /\ acts
  /\ IsDue(r)
  /\ ~IsUnder(r)
  /\ r \notin heard \cup op
  /\ m \in Targets

  /\ under' = under \cup {[r |-> r, m |-> m]}
  /\ sent' = sent \cup {[r |-> r, m |-> m]}
  /\ failed' = failed \ {r}
  /\ UNCHANGED <<up, acts, known, progress, saved, heard, own, alive, log, halfVars, visible, popVars>>

\* It appends it to its own log, which no slave may.
PutHere(r) ==
  /\ Explored("PutHere", r)
  /\ up
  /\ acts
  /\ IsDue(r)
  /\ MayPutHere(r)

  /\ own' = own \cup {r}
  /\ heard' = heard \cup {r}
  /\ UNCHANGED <<up, acts, known, progress, saved, under, sent, failed, alive, log, halfVars, visible, popVars>>

\* A put comes to a master that runs, at some time.  A delayed message can be read then; a half message cannot.
\*                                                                         \* CHECK StaysHalf
Shows(r) == r \in Delayed
StorePut(r, m) ==
  /\ Explored("StorePut", <<r, m>>)
  /\ [r |-> r, m |-> m] \in sent
  /\ alive[m]

  /\ log' = [log EXCEPT ![m] = @ \cup {r}]
  /\ sent' = sent \ {[r |-> r, m |-> m]}
  /\ visible' = IF Shows(r) THEN visible \cup {r} ELSE visible
  /\ UNCHANGED <<slaveVars, alive, halfVars, popVars>>

\* The slave hears that it is there.
HearPut(r, m) ==
  /\ Explored("HearPut", <<r, m>>)
  /\ [r |-> r, m |-> m] \in under
  /\ r \in log[m]

  /\ under' = under \ {[r |-> r, m |-> m]}
  /\ heard' = heard \cup {r}
  /\ UNCHANGED <<up, acts, known, progress, saved, sent, failed, own, alive, log, halfVars, visible, popVars>>

\* It hears that it is not, or waits no longer.  What it has sent may come yet.
FailPut(r, m) ==
  /\ Explored("FailPut", <<r, m>>)
  /\ [r |-> r, m |-> m] \in under

  /\ under' = under \ {[r |-> r, m |-> m]}
  /\ failed' = failed \cup {r}
  /\ UNCHANGED <<up, acts, known, progress, saved, sent, heard, own, alive, log, halfVars, visible, popVars>>

\* A record is passed when a master has said that it has it,                \* CHECK Sent
\* and not because it was tried for long enough,                            \* CHECK Skips
\* or when its producer has ended it, and the slave's own log says so.
\* Released: a half message is passed, too, that could not be put: that failed, or there is nobody.
CouldNotPut(r) == ~IsUnder(r) /\ (r \in failed \/ Targets = {})
MayPass(r) == r \in heard \cup op \/ (Released /\ r \in Half /\ CouldNotPut(r))
Pass ==
  /\ Explored("Pass", progress)
  /\ up
  /\ acts
  /\ progress + 1 \in Record
  /\ MayPass(progress + 1)

  /\ progress' = progress + 1
  /\ UNCHANGED <<up, acts, known, saved, under, sent, heard, failed, own, alive, log, halfVars, visible, popVars>>

\* What it has passed is written to its disk, and nothing else is.          \* CHECK Early
Written == progress
Save ==
  /\ Explored("Save", progress)
  /\ up
  /\ saved # Written

  /\ saved' = Written
  /\ UNCHANGED <<up, acts, known, progress, under, sent, heard, failed, own, alive, log, halfVars, visible,
                 popVars>>

\* It stops: what it has not written down is gone, and it waits for nothing.
Stop ==
  /\ Explored("Stop", progress)
  /\ up

  /\ up' = FALSE
  /\ acts' = FALSE
  /\ known' = {}
  /\ under' = {}
  /\ heard' = {}
  /\ failed' = {}
  /\ UNCHANGED <<progress, saved, sent, own, alive, log, halfVars, visible, popVars>>

Start ==
  /\ Explored("Start", saved)
  /\ ~up

  /\ up' = TRUE
  /\ progress' = saved
  /\ UNCHANGED <<acts, known, saved, under, sent, heard, failed, own, alive, log, halfVars, visible, popVars>>

\* ---- Other masters ----

Die(m) ==
  /\ Explored("Die", m)
  /\ alive[m]

  /\ alive' = [alive EXCEPT ![m] = FALSE]
  /\ UNCHANGED <<slaveVars, sent, log, halfVars, visible, popVars>>

\* It comes back, with all that it had.
Return(m) ==
  /\ Explored("Return", m)
  /\ ~alive[m]

  /\ alive' = [alive EXCEPT ![m] = TRUE]
  /\ UNCHANGED <<slaveVars, sent, log, halfVars, visible, popVars>>

\* ---- Half messages ----

\* A producer decides.  Its first word goes to its own group: the master that is gone may have had it, and then
\* the slave's log has it, too.
End(h, how, told) ==
  /\ Explored("End", <<h, how, told>>)
  /\ ended[h] = "open"

  /\ ended' = [ended EXCEPT ![h] = how]
  /\ op' = IF told THEN op \cup {h} ELSE op
  /\ visible' = IF told /\ how = "commit" THEN visible \cup {h} ELSE visible
  /\ UNCHANGED <<slaveVars, sent, alive, log, popVars>>

\* Whoever has a half message asks its producer, again and again, and shows it when that says so.
\*                                                                         \* CHECK Unasked
IsCommitted(h) == ended[h] = "commit"
Check(h, m) ==
  /\ Explored("Check", <<h, m>>)
  /\ alive[m]
  /\ h \in log[m]
  /\ h \notin visible
  /\ IsCommitted(h)

  /\ visible' = visible \cup {h}
  /\ UNCHANGED <<slaveVars, sent, alive, log, halfVars, popVars>>

\* ---- Pops ----

CkSent(p) == \E x \in popSent : x.p = p /\ x.is = "ck"

\* Where a check point may go.                                              \* CHECK Meets
\* Released: to the first master of the moment.
IsFirst(m, of) == m \in of /\ \A n \in of \ {m} : <<m, n>> \in Before
MayHold(p, m) == IF Released THEN IsFirst(m, Targets) ELSE m \in Targets
\* A consumer pops from the slave, which sends a check point to a master.
CheckPoint(p, m) ==
  /\ Explored("CheckPoint", <<p, m>>)
  /\ up
  /\ acts
  /\ ~CkSent(p)
  /\ MayHold(p, m)

  /\ popSent' = popSent \cup {[p |-> p, m |-> m, is |-> "ck"]}
  /\ UNCHANGED <<slaveVars, sent, alive, log, halfVars, visible, ckAt, ackAt, accepted, revived>>

StoreCheckPoint(p, m) ==
  /\ Explored("StoreCheckPoint", <<p, m>>)
  /\ [p |-> p, m |-> m, is |-> "ck"] \in popSent
  /\ ckAt[p] = None
  /\ alive[m]

  /\ ckAt' = [ckAt EXCEPT ![p] = m]
  /\ UNCHANGED <<slaveVars, sent, alive, log, halfVars, visible, popSent, ackAt, accepted, revived>>

\* Where an ACK may go: to its check point, wherever others go.             \* CHECK Meets
\* Released: where check points go by then.
MayAck(p, m) == IF Released THEN IsFirst(m, Targets) ELSE m = ckAt[p]
\* A consumer has done what it popped, and the slave sends its ACK to a master.
Acknowledge(p, m) ==
  /\ Explored("Acknowledge", <<p, m>>)
  /\ up
  /\ acts
  /\ ckAt[p] # None
  /\ [p |-> p, m |-> m, is |-> "ack"] \notin popSent
  /\ MayAck(p, m)

  /\ popSent' = popSent \cup {[p |-> p, m |-> m, is |-> "ack"]}
  /\ UNCHANGED <<slaveVars, sent, alive, log, halfVars, visible, ckAt, ackAt, accepted, revived>>

StoreAck(p, m) ==
  /\ Explored("StoreAck", <<p, m>>)
  /\ [p |-> p, m |-> m, is |-> "ack"] \in popSent
  /\ m \notin ackAt[p]
  /\ alive[m]

  /\ ackAt' = [ackAt EXCEPT ![p] = @ \cup {m}]
  /\ UNCHANGED <<slaveVars, sent, alive, log, halfVars, visible, popSent, ckAt, accepted, revived>>

\* The consumer is told that its ACK is stored, when it is.                 \* CHECK Told
\* Released: it is told so whatever has become of it.
MayAccept(p) == ckAt[p] # None /\ (Released \/ ackAt[p] # {})
Accept(p) ==
  /\ Explored("Accept", p)
  /\ up
  /\ MayAccept(p)
  /\ p \notin accepted

  /\ accepted' = accepted \cup {p}
  /\ UNCHANGED <<slaveVars, sent, alive, log, halfVars, visible, popSent, ckAt, ackAt, revived>>

\* The time of a check point is up, and its master has no ACK of it,        \* CHECK Names
Cancels(p, m) == m \in ackAt[p]
Revive(p, m) ==
  /\ Explored("Revive", <<p, m>>)
  /\ ckAt[p] = m
  /\ alive[m]
  /\ ~Cancels(p, m)
  /\ p \notin revived

  /\ revived' = revived \cup {p}
  /\ UNCHANGED <<slaveVars, sent, alive, log, halfVars, visible, popSent, ckAt, ackAt, accepted>>

-----------------------------------------------------------------------------
\* ---- What is missed ----
\* Here is no time: somebody has left undone what is to be done.  It changes nothing, and no finite model has it.

\* The slave asks which masters there are,
NoAsk == ~up /\ UNCHANGED vars

\* takes what it hears of them,
NoLearn == ~up /\ UNCHANGED vars

\* acts if it hears that it has the smallest brokerId, and not if it hears of a smaller one,
NoAct(is) == (~up \/ acts = is) /\ UNCHANGED vars

\* puts the first record that is due and not passed,
NoPut(r) == (~up \/ ~acts \/ r # progress + 1 \/ IsUnder(r) \/ Targets = {}) /\ UNCHANGED vars

\* says in full what it is, waits before it puts again what has failed,
PutPart(r) == (~up \/ ~IsUnder(r)) /\ UNCHANGED vars
PutEarly(r) == (~up \/ ~IsUnder(r)) /\ UNCHANGED vars

\* writes down what it has passed, and what it has given to consumers,
NoSave == (~up \/ saved = progress) /\ UNCHANGED vars
NoKeep(p) == (~up \/ ckAt[p] = None) /\ UNCHANGED vars

\* and answers them: with what a master has a check point of, and with all that an ACK needs.
LeaveConsumer == ~up /\ UNCHANGED vars
GiveUnheld(p) == (~up \/ ckAt[p] # None) /\ UNCHANGED vars
GivePart(p) == (~up \/ ckAt[p] = None) /\ UNCHANGED vars

\* While it acts it refuses an ACK at once only where no master may have it; released: it never does,
RefuseAck(p) ==
  (~up \/ ~acts \/ ckAt[p] = None \/ (~Released /\ \A m \in Targets : ~MayAck(p, m))) /\ UNCHANGED vars

\* and says without sending it that it is stored, where there is nobody to send it to.
SkipAck(p) == Released /\ Targets = {} /\ UNCHANGED vars

\* It refuses a pop, or an ACK, though a master has just said that it has the check point, or the ACK: it has none.
Deny(p, is) == (IF is = "ck" THEN ckAt[p] = None ELSE ackAt[p] = {}) /\ UNCHANGED vars

\* It waits for the answer to a put.
WaitFor(r) == up /\ IsUnder(r) /\ UNCHANGED vars

\* A master answers a sign of life,
NoSign(m) == ~alive[m] /\ UNCHANGED vars

\* has on its disk what it has appended,
NoFlush(m) == ~alive[m] /\ UNCHANGED vars

\* gives each record the place behind the one before,
NoPlace(m) == ~alive[m] /\ UNCHANGED vars

\* answers a put,
NoAnswer(r, m) == (~alive[m] \/ r \notin Record) /\ UNCHANGED vars

\* asks for half messages that have not ended,
NoCheck(h, m) == (~alive[m] \/ h \notin log[m] \/ h \in visible \/ ended[h] = "rollback") /\ UNCHANGED vars

\* and looks at pops whose time is up.
NoRevive(p, m) == (~alive[m] \/ ckAt[p] # m \/ Cancels(p, m) \/ p \in revived) /\ UNCHANGED vars

\* Whoever hears what it does not do, or cannot do now, refuses it, and does nothing else.
NoRefusal(m) == m \in Master /\ ~alive[m] /\ UNCHANGED vars

\* A producer that is asked says what it has decided.
NoWord(h) == h \notin Half /\ UNCHANGED vars

Missed ==
  \/ NoAsk \/ NoLearn \/ NoSave \/ LeaveConsumer \/ \E is \in BOOLEAN : NoAct(is)
  \/ \E r \in Record : NoPut(r) \/ PutPart(r) \/ PutEarly(r) \/ WaitFor(r) \/ \E m \in Master : NoAnswer(r, m)
  \/ \E h \in Half : NoWord(h) \/ \E m \in Master : NoCheck(h, m)
  \/ \E m \in Master \cup {None} : NoRefusal(m)
  \/ \E p \in Pop : NoKeep(p) \/ GiveUnheld(p) \/ GivePart(p)
  \/ \E p \in Pop : RefuseAck(p) \/ SkipAck(p) \/ \E is \in {"ck", "ack"} : Deny(p, is)
  \/ \E m \in Master : NoSign(m) \/ NoFlush(m) \/ NoPlace(m) \/ \E p \in Pop : NoRevive(p, m)

-----------------------------------------------------------------------------
Next ==
  \/ \E is \in BOOLEAN : Act(is)
  \/ \E m \in Master, runs \in BOOLEAN : LearnRoute(m, runs)
  \/ \E m \in Master : Die(m) \/ Return(m)
  \/ \E r \in Record, m \in Master : Put(r, m) \/ StorePut(r, m) \/ HearPut(r, m) \/ FailPut(r, m)
  \/ \E r \in Record : PutHere(r)
  \/ Pass \/ Save \/ Stop \/ Start
  \/ \E h \in Half, how \in {"commit", "rollback"}, told \in BOOLEAN : End(h, how, told)
  \/ \E h \in Half, m \in Master : Check(h, m)
  \/ \E p \in Pop, m \in Master : CheckPoint(p, m) \/ StoreCheckPoint(p, m) \/ Revive(p, m)
  \/ \E p \in Pop, m \in Master : Acknowledge(p, m) \/ StoreAck(p, m)
  \/ \E p \in Pop : Accept(p)
  \/ Explored("Missed", None) /\ Missed

Spec == Init /\ [][Next]_vars
===============================================================================

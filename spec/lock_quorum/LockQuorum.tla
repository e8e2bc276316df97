------------------------------ MODULE LockQuorum ------------------------------
(* Locks on queues, for consumers that must keep the order of messages: RIP-32's "lock quorum".

   A consumer that processes a queue in order needs it for itself.  It asks a broker of the group for
   locks on a batch of queues; in strict mode that broker asks all others, and a queue is locked when
   a majority of the group has voted for the consumer.  A vote is an entry in the broker's memory
   that expires; the consumer counts its own, shorter lease from the moment when it gets the answer,
   and asks again before it ends.  Two majorities share a broker, and that broker has one holder.
   Everything that breaks this sentence lets two consumers process a queue at once: votes that are
   forgotten at a restart, leases that outlive votes, groups that count themselves wrongly.

   Modelled: batches and partial answers; requests to vote and releases that are delayed or lost, and
   arrive after the attempt that sent them is over; votes that are not heard in time; expiry; restart
   of brokers, which lose their votes; attempts that get no answer; whichever broker a consumer takes
   for the master, and so every change of master and acting master; strict and non-strict mode;
   brokers whose clocks run faster than those of consumers.
   Not modelled: repeated requests (one that is delivered refreshes a vote, as a new one does), the
   contents of queues (a message is a step of its consumer), the way of votes and releases through
   the broker that a consumer talks to (they may be late, or lost).

   Conventions: durations are counted down as time passes.  An attempt has a number, which all its
   messages carry.  A message that is lost is one that stays in `asks` or `frees` for ever.
   Source: RebalanceLockManager, AdminBrokerProcessor.lockBatchMQ and unlockBatchMQ, and the
   consumer's RebalanceImpl and ConsumeMessageOrderlyService of apache/rocketmq at 8fc57f1468;
   published rule: RIP-32, "lock quorum".                                                         *)
EXTENDS FiniteSets, Extrema

CONSTANTS
  Replica,         \* the brokers of the group
  Client,          \* consumers
  Queue,           \* queues
  None,            \* nobody
  Configured,      \* number of replicas that the configuration says (totalReplicas)
  Strict,          \* lockInStrictMode
  VoteLife,        \* for how long a vote holds
  LeaseLife,       \* for how long a consumer holds a queue after the answer
  Patience,        \* for how long it waits for the answer
  Skew             \* by how much a broker's clock gains on a consumer's while a vote holds

ASSUME NumberAssumption ==
  /\ Configured \in Nat \ {0} /\ VoteLife \in Nat \ {0} /\ LeaseLife \in Nat \ {0}
  /\ Patience \in Nat /\ Skew \in Nat
ASSUME ModeAssumption == Strict \in BOOLEAN

VARIABLES
  \* each broker, in memory
  votes,       \* broker -> queue -> [c: for whom, n: of which attempt, left: of its life] or NoVote
  released,    \* broker -> consumer -> queue -> number of the last attempt that was given up
  wait,        \* broker -> for how long it does not vote yet after a restart
  \* messages
  asks,        \* requests to vote: set of [c, n, r: the broker, qs: queues, first: asked by c itself]
  frees,       \* releases: set of [c, n, r, qs]
  \* each consumer
  tries,       \* consumer -> number of its attempts
  attempt,     \* consumer -> the attempt under way (see Attempt), or NoAttempt
  lease,       \* consumer -> queue -> what is left of its lease; 0: it does not hold the queue
  \* history, read by no guard
  fresh,       \* consumer -> queues of which it has processed nothing since it got them
  last         \* queue -> who has processed the last message

vars == <<votes, released, wait, asks, frees, tries, attempt, lease, fresh, last>>
brokerVars == <<votes, released, wait>>
clientVars == <<tries, attempt, lease>>
historyVars == <<fresh, last>>

-----------------------------------------------------------------------------
Ask == [c : Client, n : Nat, r : Replica, qs : SUBSET Queue, first : BOOLEAN]
Release == [c : Client, n : Nat, r : Replica, qs : SUBSET Queue]
Vote == [c : Client, n : Nat, left : 1..VoteLife]
NoVote == [c |-> None]
Attempt == [n : Nat, qs : SUBSET Queue, left : 0..(Patience + 1),
            yes : [Queue -> SUBSET Replica]]   \* who has voted, as far as is known
NoAttempt == [n |-> 0]

Init ==
  /\ votes = [r \in Replica |-> [q \in Queue |-> NoVote]]
  /\ released = [r \in Replica |-> [c \in Client |-> [q \in Queue |-> 0]]]
  /\ wait = [r \in Replica |-> 0]
  /\ asks = {}
  /\ frees = {}
  /\ tries = [c \in Client |-> 0]
  /\ attempt = [c \in Client |-> NoAttempt]
  /\ lease = [c \in Client |-> [q \in Queue |-> 0]]
  /\ fresh = [c \in Client |-> {}]
  /\ last = [q \in Queue |-> None]

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, x) == TRUE

After(d, n) == IF n > d THEN n - d ELSE 0

\* ---- Votes ----

\* A majority of all replicas, alive or not.                               \* CHECK B45Quorum
Quorum == Configured \div 2 + 1
\* A queue is locked when so many brokers have voted, each counted once.   \* CHECK CountOnce
Enough(yes) == Cardinality(yes) >= (IF Strict THEN Quorum ELSE 1)

\* ---- Actions of a consumer ----

\* Attempts are numbered from 1.
NextNumber(c) == tries[c] + 1

\* It asks while no other attempt is under way.
MayLock(c, qs) == attempt[c] = NoAttempt /\ qs # {}

\* The consumer asks for queues, or asks again for those that it holds (lockAll, every 20 s).
Lock(c, qs, at) ==
  /\ Explored("Lock", <<c, at>>)
  /\ MayLock(c, qs)

  /\ LET n == NextNumber(c)
     IN /\ tries' = [tries EXCEPT ![c] = n]
        /\ attempt' = [attempt EXCEPT ![c] = [n |-> n, qs |-> qs, left |-> Patience + 1,
                                              yes |-> [q \in Queue |-> {}]]]
        /\ asks' = asks \cup {[c |-> c, n |-> n, r |-> at, qs |-> qs, first |-> TRUE]}
  /\ UNCHANGED <<brokerVars, frees, lease, historyVars>>

\* An answer counts while the consumer waits for it.                       \* CHECK LateAnswer
InTime(a) == a.left > 0
\* Those that did not answer are no reason to refuse the others.           \* CHECK B77
Answers(a) == {q \in a.qs : Enough(a.yes[q])}
\* Some votes do not come back in time: an answer may have fewer queues than there are votes for.
Heard(c, got) == got \subseteq Answers(attempt[c])
\* A lease begins with the answer, and is shorter than a vote.             \* CHECK B45Lease
LeaseAfterAnswer == LeaseLife
\* A consumer that was refused stops.                                      \* CHECK RefusedStops
AfterRefusal(c, q) == 0
\* A consumer gives the votes of a failed attempt back.                    \* CHECK B45Partial
GivenBack(c, qs) == qs
\* The votes of these queues are given back, by each broker on its own.
Free(c, n, qs) ==
  frees' = frees \cup {[c |-> c, n |-> n, r |-> r, qs |-> qs] : r \in IF qs = {} THEN {} ELSE Replica}

\* The answer arrives: what is locked, and by that what is not.
ReceiveAnswer(c, got) ==
  /\ attempt[c] # NoAttempt
  /\ InTime(attempt[c])
  /\ Heard(c, got)
  /\ Explored("ReceiveAnswer", c)

  /\ LET a == attempt[c]
     IN /\ lease' = [lease EXCEPT ![c] = [q \in Queue |->
                       CASE q \in got -> LeaseAfterAnswer
                         [] q \in a.qs \ got -> AfterRefusal(c, q)
                         [] OTHER -> @[q]]]
        /\ fresh' = [fresh EXCEPT ![c] = {q \in @ : lease'[c][q] > 0}
                                           \cup {q \in got : lease[c][q] = 0}]
        /\ Free(c, a.n, GivenBack(c, {q \in a.qs \ got : lease'[c][q] = 0}))
  /\ attempt' = [attempt EXCEPT ![c] = NoAttempt]
  /\ UNCHANGED <<brokerVars, asks, tries, last>>

\* No answer, or too late: what the consumer held it holds until its lease ends.
GiveUp(c) ==
  /\ attempt[c] # NoAttempt
  /\ Explored("GiveUp", c)

  /\ attempt' = [attempt EXCEPT ![c] = NoAttempt]
  /\ Free(c, attempt[c].n, GivenBack(c, {q \in attempt[c].qs : lease[c][q] = 0}))
  /\ UNCHANGED <<brokerVars, asks, tries, lease, historyVars>>

\* While an attempt is under way nothing is given up.
MayUnlock(c, q) == attempt[c] = NoAttempt /\ lease[c][q] > 0

\* The consumer does not want queues any more (rebalance, shutdown).
Unlock(c, qs) ==
  /\ Explored("Unlock", c)
  /\ qs # {}
  /\ \A q \in qs : MayUnlock(c, q)

  /\ lease' = [lease EXCEPT ![c] = [q \in Queue |-> IF q \in qs THEN 0 ELSE @[q]]]
  /\ fresh' = [fresh EXCEPT ![c] = @ \ qs]
  /\ Free(c, tries[c], qs)
  /\ UNCHANGED <<brokerVars, asks, tries, attempt, last>>

\* A consumer processes what it holds, from the first lock on.             \* CHECK B46
MayProcess(c, q) == lease[c][q] > 0

\* It processes the next message of a queue.
Process(c, q) ==
  /\ Explored("Process", c)
  /\ MayProcess(c, q)

  /\ last' = [last EXCEPT ![q] = c]
  /\ fresh' = [fresh EXCEPT ![c] = @ \ {q}]
  /\ UNCHANGED <<brokerVars, asks, frees, clientVars>>

\* ---- Actions of a broker ----

\* A broker votes for one consumer at a time                               \* CHECK VoteOnce
IsFree(r, q, c) == votes[r][q].c \in {None, c}
\* and not for an attempt whose release came first.                        \* CHECK LateAsk
IsWanted(r, m, q) == m.n > released[r][m.c][q]

\* It is asked, and votes for those queues that are free, unless it has restarted; the broker that a
\* consumer takes for the master asks the others for these.
ReceiveAsk(c, r) ==
  /\ Explored("ReceiveAsk", r)
  /\ \E m \in asks :
       /\ m.c = c /\ m.r = r

       /\ LET mine == {q \in m.qs : wait[r] = 0 /\ IsWanted(r, m, q) /\ IsFree(r, q, c)}
              a == attempt[c]
              others == IF m.first /\ mine # {} /\ Strict /\ Quorum > 1 THEN Replica \ {r} ELSE {}
          IN /\ asks' = (asks \ {m}) \cup
                  {[c |-> c, n |-> m.n, r |-> x, qs |-> mine, first |-> FALSE] : x \in others}
             /\ votes' = [votes EXCEPT ![r] = [q \in Queue |->
                            IF q \in mine
                            THEN [c |-> c, left |-> VoteLife,
                                  n |-> IF @[q] = NoVote THEN m.n ELSE Max(@[q].n, m.n)]
                            ELSE @[q]]]
             /\ attempt' = IF a # NoAttempt /\ a.n = m.n
                           THEN [attempt EXCEPT ![c].yes =
                                   [q \in Queue |-> IF q \in mine THEN @[q] \cup {r} ELSE @[q]]]
                           ELSE attempt
  /\ UNCHANGED <<released, wait, frees, tries, lease, historyVars>>

\* A release is for the votes of that attempt and those before             \* CHECK LateFree
IsOver(v, m) == v.n <= m.n
\* and for the consumer's own.                                             \* CHECK UnlockOwn
IsOwn(v, m) == v.c = m.c
\* A broker remembers what was given up.                                   \* CHECK Remembered
LastReleased(old, n) == Max(old, n)

\* A consumer gives votes back.
ReceiveFree(c, r) ==
  /\ Explored("ReceiveFree", r)
  /\ \E m \in frees :
       /\ m.c = c /\ m.r = r
       /\ votes' = [votes EXCEPT ![r] = [q \in Queue |->
                      IF q \in m.qs /\ @[q] # NoVote /\ IsOwn(@[q], m) /\ IsOver(@[q], m)
                      THEN NoVote ELSE @[q]]]
       /\ released' = [released EXCEPT ![r][c] =
                         [q \in Queue |-> IF q \in m.qs THEN LastReleased(@[q], m.n) ELSE @[q]]]
       /\ frees' = frees \ {m}
  /\ UNCHANGED <<wait, asks, clientVars, historyVars>>

\* It does not vote before every vote that it may have forgotten is over.  \* CHECK B45Restart
WaitAfterRestart == VoteLife

\* It stops and comes back, and has forgotten everything.
Restart(r) ==
  /\ Explored("Restart", r)

  /\ votes' = [votes EXCEPT ![r] = [q \in Queue |-> NoVote]]
  /\ released' = [released EXCEPT ![r] = [c \in Client |-> [q \in Queue |-> 0]]]
  /\ wait' = [wait EXCEPT ![r] = WaitAfterRestart]
  /\ UNCHANGED <<asks, frees, clientVars, historyVars>>

\* ---- Time ----

\* A broker's clock runs fast: a vote is over early,
ExpireEarly(r, q) ==
  /\ Explored("ExpireEarly", r)
  /\ votes[r][q] # NoVote
  /\ votes[r][q].left <= Skew

  /\ votes' = [votes EXCEPT ![r][q] = NoVote]
  /\ UNCHANGED <<released, wait, asks, frees, clientVars, historyVars>>

\* or the time after its restart.
WaitLess(r) ==
  /\ Explored("WaitLess", r)
  /\ wait[r] \in 1..Skew

  /\ wait' = [wait EXCEPT ![r] = 0]
  /\ UNCHANGED <<votes, released, asks, frees, clientVars, historyVars>>

\* A broker that has restarted votes again some time.                      \* CHECK WaitEnds
WaitLeft(r, d) == After(d, wait[r])
\* By how much time passes at once.
Durations == Nat \ {0}

\* Time passes for all.
Tick(d) ==
  /\ Explored("Tick", None)

  /\ votes' = [r \in Replica |-> [q \in Queue |->
                 IF votes[r][q] = NoVote THEN NoVote
                 ELSE IF votes[r][q].left <= d THEN NoVote
                 ELSE [votes[r][q] EXCEPT !.left = @ - d]]]
  /\ wait' = [r \in Replica |-> WaitLeft(r, d)]
  /\ lease' = [c \in Client |-> [q \in Queue |-> After(d, lease[c][q])]]
  /\ fresh' = [c \in Client |-> {q \in fresh[c] : lease'[c][q] > 0}]
  /\ attempt' = [c \in Client |->
                   IF attempt[c] = NoAttempt THEN NoAttempt
                   ELSE [attempt[c] EXCEPT !.left = After(d, @)]]
  /\ UNCHANGED <<released, asks, frees, tries, last>>

\* ---- Steps that change nothing: a trace shows by them that nothing else was due ----

\* The broker that was asked answers: a queue is locked if enough of those that it has heard voted.
SendAnswer(c, got, heard) ==
  /\ Explored("SendAnswer", c)
  /\ attempt[c] # NoAttempt
  /\ got = {q \in attempt[c].qs : Enough(attempt[c].yes[q] \cap heard)}
  /\ UNCHANGED vars

\* A consumer hears an answer that does not count any more.
IgnoreAnswer(c) ==
  /\ Explored("IgnoreAnswer", c)
  /\ attempt[c] = NoAttempt \/ ~InTime(attempt[c])
  /\ UNCHANGED vars

\* A consumer is to ask for queues, to give them up, or to process a message, and may not.
Refrain(c, wish, qs) ==
  /\ Explored("Refrain", c)
  /\ CASE wish = "Lock" -> ~MayLock(c, qs)
       [] wish = "Unlock" -> \A q \in qs : ~MayUnlock(c, q)
       [] wish = "Process" -> \A q \in qs : ~MayProcess(c, q)
  /\ UNCHANGED vars

-----------------------------------------------------------------------------
Next ==
  \/ \E c \in Client, qs \in SUBSET Queue, at \in Replica : Lock(c, qs, at)
  \/ \E c \in Client, got \in SUBSET Queue : ReceiveAnswer(c, got)
  \/ \E c \in Client : GiveUp(c)
  \/ \E c \in Client, qs \in SUBSET Queue : Unlock(c, qs)
  \/ \E c \in Client, q \in Queue : Process(c, q)
  \/ \E c \in Client, r \in Replica : ReceiveAsk(c, r)
  \/ \E c \in Client, r \in Replica : ReceiveFree(c, r)
  \/ \E r \in Replica : Restart(r)
  \/ \E r \in Replica, q \in Queue : ExpireEarly(r, q)
  \/ \E r \in Replica : WaitLess(r)
  \/ \E d \in Durations : Tick(d)
  \/ \E c \in Client, got \in SUBSET Queue, heard \in SUBSET Replica : SendAnswer(c, got, heard)
  \/ \E c \in Client : IgnoreAnswer(c)
  \/ \E c \in Client, wish \in {"Lock", "Unlock", "Process"}, qs \in SUBSET Queue :
       Refrain(c, wish, qs)

Spec == Init /\ [][Next]_vars
===============================================================================

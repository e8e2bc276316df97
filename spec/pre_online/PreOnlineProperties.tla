------------------------- MODULE PreOnlineProperties -------------------------
(* What PreOnline promises: invariants, each with what happens else; what a rule of versions loses at
   most; situations that must be reachable; what becomes of a master that waits.                  *)
EXTENDS PreOnline

TypeOK ==
  /\ up \in [Broker -> BOOLEAN]
  /\ group \subseteq Broker
  /\ serves \in [Broker -> BOOLEAN]
  /\ table \in [Broker -> Table]
  /\ version \in [Broker -> Nat]
  /\ moves \in [Broker -> Nat] /\ \A b \in Broker : moves[b] <= Step
  /\ masterAddr \in [Slave -> BOOLEAN]
  /\ saved \in [Broker -> [table : Table, version : Nat]]
  /\ link \in [Slave -> {"none", "told", "transfer"}]
  /\ isolated \in BOOLEAN
  /\ members \subseteq Broker
  /\ asked \in BOOLEAN
  /\ done \subseteq Slave
  /\ there \subseteq Slave
  /\ met \subseteq Slave

-----------------------------------------------------------------------------
\* ---- Invariants ----

Runs(b) == up[b] /\ up'[b]
IsOnline == up[Master] /\ ~isolated

\* Else consumers get messages again that a slave knew to be consumed, and messages that it has
\* delivered are delivered again.
MetaMonotone ==
  [][Runs(Master) => \A s \in met' \ met, q \in Queue : table'[Master][q] >= table[s][q]]_vars

\* Else the same happens with what the master knew itself.
MasterKept ==
  [][Runs(Master) => \A q \in Queue : table'[Master][q] >= table[Master][q]]_vars

\* Else what a slave knows that was there is lost, or it is left behind without a connection.
PreOnlineAll == IsOnline => there \subseteq met

\* Else clients are served what the master knew before it was gone.
PreOnlineNoServe ==
  [][IsWaiting /\ IsWaiting' =>
       /\ ~serves'[Master]
       /\ Master \in group' => Master \in group
       /\ \A q \in Queue : table'[Master][q] > table[Master][q]
            => \E s \in Slave : table[s][q] >= table'[Master][q]]_vars

\* Else a slave gives up what the master has not asked for yet.
SlaveKept ==
  [][\A s \in there, q \in Queue : Runs(s) /\ table'[s][q] < table[s][q] => s \in met]_vars

\* Else a slave that serves does again what it has done.
ActingKept ==
  [][\A s \in Slave, q \in Queue : serves[s] /\ serves'[s] => table'[s][q] >= table[s][q]]_vars

\* Else a slave has less than it had, and less than the master.
SlaveCopies ==
  [][\A s \in Slave, q \in Queue :
       Runs(s) /\ table'[s][q] < table[s][q] => table'[s][q] = table[Master][q]]_vars

-----------------------------------------------------------------------------
\* ---- What is lost at most where versions decide ----

RECURSIVE Sum(_, _)
Sum(f, S) == IF S = {} THEN 0 ELSE LET q == CHOOSE q \in S : TRUE IN f[q] + Sum(f, S \ {q})
\* Offsets that are in one table, and not in the other.
Beyond(t, other) == Sum([q \in Queue |-> IF t[q] > other[q] THEN t[q] - other[q] ELSE 0], Queue)

\* Else more is lost than the changes that have not moved a version yet.
StepBound ==
  [][Runs(Master) =>
       /\ Beyond(table[Master], table'[Master]) < Step
       /\ \A s \in met' \ met : Beyond(table[s], table'[Master]) < Step]_vars

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

NoBothWays ==               \* master and slave have each what the other has not
  \A s \in Wanted, q, r \in Queue :
    ~(IsWaiting /\ table[s][q] > table[Master][q] /\ table[s][r] < table[Master][r])
NoWindow ==                 \* a slave took a commit after it had given its table
  IsWaiting /\ IsComplete => \A s \in met, q \in Queue : table[s][q] <= table[Master][q]
NoLate ==                   \* a slave came that knows more, after the last answer
  IsWaiting /\ IsComplete =>
    \A s \in (Slave \cap group) \ met, q \in Queue : table[s][q] <= table[Master][q]
NoTwoServe ==               \* a slave acts while the master is online, and known
  \A s \in Slave : serves[s] => ~(IsOnline /\ Master \in group)
NoGone ==                   \* the master waits for a slave that is gone
  IsWaiting => \A s \in Wanted : up[s]
NoOwnEntry ==               \* its registration of before is still there
  IsWaiting => Master \notin group
NoStepLoss ==               \* all that moved no version is lost, of the master's own
  \A s \in Slave : ENABLED TakeTable(s) => Beyond(table[Master], Merged(s)) < Step - 1
NoStepLossOfSlave ==        \* and of what a slave gave
  \A s \in Slave, t \in met :
    ENABLED TakeTable(s) => Beyond(table[t], Merged(s)) < Step - 1

-----------------------------------------------------------------------------
\* ---- Liveness ----

\* A master that waits asks, and does what comes next; who runs registers and asks; who does not register
\* any more is taken for gone.  A connection that breaks is made again, so often that a table is taken.
\* A slave that has heard of a master knows where to connect to.
IsGone(b) == ~up[b] \/ (b = Master /\ isolated)
Fairness ==
  /\ WF_vars(AskGroup) /\ WF_vars(GoOnline)
  /\ \A s \in Slave : WF_vars(SendHaInfo(s)) /\ SF_vars(Handshake(s)) /\ SF_vars(TakeTable(s))
  /\ \A s \in Slave : WF_vars(LearnHaAddress(s))
  /\ \A b \in Broker : WF_vars(Register(b)) /\ WF_vars(IsGone(b) /\ Remove(b))

FairSpec == Spec /\ Fairness

\* From some time on slaves neither come nor go.
Settles == <>[](\A s \in Slave : up[s] <=> s \in group)
PreOnlineLive == Settles => (IsWaiting ~> ~IsWaiting)
\* Else a slave replicates nothing for ever, of a master that was taken for gone and never was.
ConnectLive ==
  Settles => \A s \in Slave : []<>(~up[s] \/ Master \notin group \/ link[s] # "none")

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ PreOnlineAll)
===============================================================================

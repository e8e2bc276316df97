--------------------------- MODULE EscapeProperties ---------------------------
(* What Escape promises: invariants, each with what happens else; situations that must be reachable; that
   what is due is delivered.                                                                      *)
EXTENDS Escape

TypeOK ==
  /\ up \in BOOLEAN /\ acts \in BOOLEAN
  /\ known \subseteq Master
  /\ progress \in 0..Cardinality(Record) /\ saved \in 0..Cardinality(Record)
  /\ under \subseteq [r : Record, m : Master] /\ sent \subseteq [r : Record, m : Master]
  /\ heard \subseteq Record /\ failed \subseteq Record /\ own \subseteq Record
  /\ alive \in [Master -> BOOLEAN]
  /\ log \in [Master -> SUBSET Record]
  /\ ended \in [Half -> {"open", "commit", "rollback"}]
  /\ op \subseteq Half
  /\ visible \subseteq Record
  /\ popSent \subseteq [p : Pop, m : Master, is : {"ck", "ack"}]
  /\ ckAt \in [Pop -> Master \cup {None}] /\ ackAt \in [Pop -> SUBSET Master]
  /\ accepted \subseteq Pop /\ revived \subseteq Pop

-----------------------------------------------------------------------------
\* ---- Invariants ----

Has(r) == \E m \in Master : r \in log[m]

\* Else a record is lost that nobody puts any more: neither this slave when it starts again, nor the master that
\* takes over its progress.
EscapeGate == \A r \in 1..progress \cup 1..saved : Has(r) \/ r \in op

\* Else the log of the group forks.
ActingNoWrite == own = {}

\* Else consumers see what a producer may still roll back, or has.
HalfUnseen == \A h \in Half \cap visible : ended[h] = "commit"

\* Else what need not leave the process does.
LocalFirst ==
  [][\A x \in under' \ under : x.m \in Local \/ known \cap Local = {}]_vars

\* Else who was told that it has done with a message gets it again.
AckedStays == [][\A p \in revived' \ revived : p \notin accepted]_vars

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

NoTwice ==                  \* a record is in two logs: an answer was lost
  \A r \in Record, m, n \in Master : r \in log[m] \cap log[n] => m = n
NoAgain ==                  \* a slave that has started again puts what a master has
  \A x \in under : x.r \notin log[x.m]
NoDeadEnd ==                \* a put is on its way to a master that is dead
  \A x \in under : alive[x.m]
NoAheadOfDisk ==            \* it stops, and what it has passed is not on its disk
  up \/ progress = saved
NoLate ==                   \* a put comes to a master for whose answer the slave does not wait
  \A x \in sent : x \in under
NoStaleRoute ==             \* the slave knows of a master that is dead, and not of one that runs
  ~(\E m, n \in Master : m \in known /\ ~alive[m] /\ alive[n] /\ n \notin known)
NoSecondHalf ==             \* a half message is committed by its own group, and lies at another master, too
  \A h \in op : ~Has(h)
NoRevived ==                \* a pop is delivered again
  revived = {}
NoUnreachable ==            \* the check point's master is gone, so no ACK can be stored
  \A p \in Pop : ckAt[p] # None /\ ackAt[p] = {} => alive[ckAt[p]]
NoAckLate ==                \* an ACK is stored when its pop was delivered again
  \A p \in revived : ackAt[p] = {}

-----------------------------------------------------------------------------
\* ---- Liveness ----

\* A slave that acts asks, puts, and passes; a put comes to a master that runs, and not all answers are lost for
\* ever; who has a half message asks its producer, who decides; time runs.
Fairness ==
  /\ \A m \in Master : WF_vars(LearnRoute(m, alive[m]))
  /\ \A r \in Record :
       /\ SF_vars(\E m \in Master : Put(r, m))
       /\ \A m \in Master : WF_vars(StorePut(r, m)) /\ SF_vars(HearPut(r, m)) /\ WF_vars(FailPut(r, m))
  /\ WF_vars(Pass)
  /\ \A h \in Half : WF_vars(\E how \in {"commit", "rollback"} : End(h, how, FALSE))
  /\ \A h \in Half, m \in Master : WF_vars(Check(h, m))
  /\ \A p \in Pop, m \in Master : WF_vars(Revive(p, m))

FairSpec == Spec /\ Fairness

\* From some time on the slave acts, the masters that are there stay, and what it hears of them is so.
Settles ==
  /\ <>[](up /\ acts)
  /\ \E S \in SUBSET Master \ {{}} : <>[](\A m \in Master : alive[m] <=> m \in S)
  /\ <>[][\A m \in Master : (m \in known') # (m \in known) => (m \in known') = alive[m]]_vars

\* Every record that is due is delivered, or rolled back, or lies as a half with a master that is gone.
IsDone(r) == r \in visible \/ (r \in Half /\ ended[r] = "rollback")
IsWithDead(r) == r \in Half /\ \E m \in Master : r \in log[m] /\ ~alive[m]
EscapeLive == Settles => \A r \in Record : <>(IsDone(r) \/ IsWithDead(r))

\* What a consumer has popped it says that it has done, or gets again, if that master stays.
PopLive == Settles =>
  \A p \in Pop, m \in Master :
    ckAt[p] = m ~> ackAt[p] # {} \/ p \in revived \/ ~alive[m]

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ EscapeGate /\ ActingNoWrite /\ HalfUnseen)
===============================================================================

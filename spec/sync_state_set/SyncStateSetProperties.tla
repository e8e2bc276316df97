----------------------- MODULE SyncStateSetProperties -----------------------
(* What SyncStateSet promises, and why it holds: invariants, each with what happens else; situations
   that must be reachable; what becomes of records and slaves that nothing disturbs.             *)
EXTENDS SyncStateSet

TypeOK ==
  /\ ctl \in [master : Broker \cup {None}, sss : SUBSET Member, sssE : Nat]
  /\ views \in Seq(SUBSET Member)
  /\ alters \subseteq Proposal
  /\ role \in {"Master", "Fenced"}
  /\ start \in Nat
  /\ local \subseteq Member
  /\ sssE \in Nat
  /\ pend \subseteq Proposal
  /\ queue \subseteq Proposal
  /\ confirm \in Nat \cup {-1}
  /\ \A s \in Slave : conn[s] = NoConn \/ conn[s] \in Conn
  /\ up \in [Broker -> BOOLEAN]
  /\ inc \in [Broker -> Nat]
  /\ torn \in [Broker -> BOOLEAN]
  /\ end \in [Broker -> Nat]
  /\ acked \in Nat
  /\ visible \in Nat

-----------------------------------------------------------------------------
\* The master is the controller's, too.
IsCurrent == role = "Master" /\ ctl.master = Master
\* It matters what a member has that could be elected, unless it is going to say that it lost
\* something.
InForce(m) == IsPresent(m) /\ ~torn[m[1]]

\* ---- Invariants: what is promised ----

\* Else an acknowledged record is gone after an election.
AckedInSSS == \A m \in ctl.sss : InForce(m) => acked <= end[m[1]]

\* Else a record that a consumer has seen is gone after an election.
VisibleInSSS == \A m \in ctl.sss : InForce(m) => visible <= end[m[1]]

\* ---- Invariants: why it holds ----

\* Else the master does not wait for a replica that could be elected.
SSSCoverage == IsCurrent => ctl.sss \subseteq Required

\* Else the controller adds a replica that the master does not wait for.
PendingCoverage == IsCurrent => \A r \in alters : Passes(r) => Admitted(r) \subseteq Required

\* Else the controller adds a replica that lacks what was acknowledged before.
JoinReady ==
  \A r \in alters : Passes(r) => \A m \in Admitted(r) : InForce(m) => acked <= end[m[1]]

\* Else the answer to one proposal is taken for the answer to another.
OnePending == Cardinality(pend) <= 1

\* Else a master without a request in flight works with a set that is not the controller's.
SameEpochSameSet == IsCurrent /\ sssE = ctl.sssE => local = ctl.sss

\* Else the group is led by a broker that nobody waits for.
MasterInSSS == ctl.master # None => ctl.master \in Names(ctl.sss)

\* Else a record counts as copied that the slave does not have.
AckSound ==
  \A s \in Slave : conn[s] # NoConn =>
    /\ conn[s].ack <= conn[s].reported
    /\ conn[s].inc = inc[s] /\ ~torn[s] => conn[s].reported <= end[s]

\* Else a slave may join without a record that was acknowledged.
AckedLeConfirm == IsCurrent => acked <= confirm

\* Else consumers see a record that some replica lacks.
ConfirmSound == role = "Master" => \A m \in Required : InForce(m) => confirm <= end[m[1]]

ConfirmLeLog == role = "Master" => confirm <= end[Master]

\* Else a slave joins below what others have confirmed, and consumers see the end of the log go back.
ConfirmMonotone == [][role = "Master" /\ role' = "Master" => confirm' >= confirm]_vars

VisibleLeConfirm == [][visible' # visible => visible' <= confirm]_vars

\* Else a producer is answered before a replica that counts has the record, or had it.
AckGate ==
  [][acked' # acked => acked' <= confirm \/ \A m \in Others(Required) : Has(m, acked')]_vars

\* Else a slave is proposed that was ready once, but is not now.
ExpandGate ==
  [][\A p \in pend' \ pend : \A m \in p.set \ p.base :
       /\ Has(m, confirm)
       /\ Has(m, start)]_vars

\* Else a proposal is forgotten that the controller may still accept.
PendingEnds == [][\A p \in pend \ pend' : p.exp < sssE' \/ role' # "Master"]_vars

\* Else a change that was made from an old set undoes another one.
ProposalFromCurrent ==
  [][ctl'.sss # ctl.sss /\ ctl'.master = ctl.master =>
       \E r \in alters : r.base = ctl.sss /\ r.exp = ctl.sssE /\ ctl'.sss = Admitted(r)]_vars

\* Else a master that was replaced changes the set of its successor.
AlterFenced == [][ctl.master # Master /\ ctl'.master = ctl.master => ctl' = ctl]_vars

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

GateOpen ==                 \* a record can be acknowledged now
  acked < end[Master] /\ \A m \in Others(Required) : Has(m, end[Master])
Shrinks(p) == p.set \subseteq p.base

NoFullSet ==                \* all replicas are in the set, and have a record that was acknowledged
  ~(Names(ctl.sss) = Broker /\ acked = end[Master] /\ acked > start)
NoAckWhileShrinking == ~(role = "Master" /\ GateOpen /\ \E p \in pend : Shrinks(p))
NoAckWhileExpanding == ~(role = "Master" /\ GateOpen /\ \E p \in pend : ~Shrinks(p))
NoLateAnswer ==             \* the controller has a larger set than the master knows, a record waits
  ~(IsCurrent /\ local # ctl.sss /\ local \subseteq ctl.sss /\ acked < end[Master])
NoStaleAlter ==             \* a copy of a request may arrive after its set was replaced
  ~(IsCurrent /\ pend = {} /\ \E r \in alters : r.exp < ctl.sssE /\ r.set # ctl.sss)
NoRefusal == \A e \in 1..(Len(views) - 1) : views[e] # views[e + 1]
NoStaleMember == \A m \in Others(ctl.sss) : inc[m[1]] = m[2]
NoReturn ==                 \* a slave is a member after a restart
  \A m \in Others(ctl.sss) : ~(m[2] > 0 /\ InForce(m))
NoLostTail ==               \* a member has lost a record that was acknowledged
  \A m \in Others(ctl.sss) : end[m[1]] >= acked
NoHalfOpen ==               \* an acknowledgement of a dead incarnation opens the gate
  ~(role = "Master" /\ GateOpen /\ \E m \in Others(Required) : ~InForce(m))
NoUnheardMember ==          \* a member has just reconnected, and has less than the master
  ~(role = "Master" /\ \E m \in Others(local) :
      /\ conn[m[1]] # NoConn /\ conn[m[1]].ack = -1 /\ InForce(m) /\ end[m[1]] < end[Master])
NoMissingMember ==          \* a member without a connection has less than the master
  ~(role = "Master" /\ \E m \in Others(local) : conn[m[1]] = NoConn /\ end[m[1]] < end[Master])
NoLaterHeard ==             \* a member has lost what it had, and its next incarnation is heard
  ~(role = "Master" /\ \E m \in Others(Required) : Heard(m, conn) /\ conn[m[1]].inc > m[2])
NoUnconfirmed == ~(IsCurrent /\ confirm < end[Master])
NoSeenUnacked ==            \* a consumer has seen a record before its producer was answered
  visible <= acked
NoZombieAck == ~(role = "Master" /\ ctl.master # Master /\ GateOpen)
NoZombieAlter ==            \* a request of the old master is in flight that expected the last epoch
  ~(ctl.master \in Slave /\ \E r \in alters : r.exp = Len(views))
NoForgottenAlter ==         \* the master has crashed, and a request of its may still be accepted
  ~(role = "Fenced" /\ \E r \in alters : Passes(r))

-----------------------------------------------------------------------------
\* ---- Liveness ----

Dead(s) == conn[s] # NoConn /\ ~(up[s] /\ conn[s].inc = inc[s])
\* Slaves in the set of whose incarnation there is no connection: the timer takes them out.
Lost == {m[1] : m \in {x \in Others(local) : conn[x[1]] = NoConn \/ conn[x[1]].inc # x[2]}}

Fairness ==
  /\ WF_vars(Acknowledge(end[Master]))
  /\ WF_vars(Lost # {} /\ Shrink(Lost, TRUE))
  /\ WF_vars(SendAlter)
  /\ WF_vars(ApplyAlter \/ \E amiss \in BOOLEAN : RefuseAlter(amiss))
  /\ WF_vars(sssE < Len(views) /\ Learn(Len(views)))
  /\ \A s \in Slave :
       /\ WF_vars(Connect(s))
       /\ WF_vars(Dead(s) /\ Disconnect(s))
       /\ WF_vars(Copy(s, end[Master]))
       /\ WF_vars(ReceiveAck(s, conn[s].reported))
       /\ WF_vars(Expand(s))

FairSpec == Spec /\ Fairness

\* Every record is acknowledged in the end, whatever slaves crash, as long as the master is current (and
\* the producers stop; with more records, that of each moment).
WriteLive == <>[]IsCurrent => []<>(acked = end[Master])

\* A slave that is down for ever leaves the set.
ShrinkLive == \A s \in Slave : <>[](IsCurrent /\ ~up[s]) => <>[](s \notin Names(ctl.sss))

\* A slave that stays up joins the set, as the incarnation that it is.
ExpandLive == \A s \in Slave : <>[](IsCurrent /\ up[s]) => <>[](<<s, inc[s]>> \in ctl.sss)

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ SSSCoverage /\ PendingCoverage /\ AckedInSSS /\ VisibleInSSS)
=============================================================================

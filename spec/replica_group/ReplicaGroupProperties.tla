----------------------- MODULE ReplicaGroupProperties -----------------------
(* What ReplicaGroup promises: invariants, each with what happens else; the log that users see
   (AckedLog); situations that must be reachable; what a group comes to that is left alone.      *)
EXTENDS ReplicaGroup

TypeOK ==
  /\ ctl \in Control
  /\ views \in Seq([master : Broker \cup {None}, epoch : Nat, sss : SUBSET Broker])
  /\ Len(views) = ctl.sssEpoch
  /\ alive \in SUBSET Broker
  /\ role \in [Broker -> {"Master", "Slave", "Down"}]
  /\ known \in [Broker -> Nat]
  /\ inc \in [Broker -> Nat]
  /\ log \in [Broker -> Seq(Nat)]
  /\ epochs \in [Broker -> Seq(EpochEntry)]
  /\ torn \in SUBSET Broker
  /\ local \in [Broker -> [set : SUBSET Broker, epoch : Nat]]
  /\ \A b \in Broker : pend[b] = NoProposal \/ pend[b] \in Proposal
  /\ confirm \in [Broker -> Nat]
  /\ link \in [Broker -> Broker \cup {None}]
  /\ conn \in [Broker -> [Broker -> Conn]]
  /\ \A r \in alters : r \in Proposal
  /\ acked \in Seq(Nat)
  /\ seen \in Seq(Nat)

-----------------------------------------------------------------------------
Fit == {b \in ctl.sss : b \notin ctl.unfit /\ ctl.inc[b] = inc[b]}   \* members with a whole log
IsCurrent(m) == role[m] = "Master" /\ ctl.master = m /\ known[m] = ctl.epoch

\* ---- Invariants: structure ----

\* Else nobody knows who may change the set.
MasterInSSS == ctl.master # None => ctl.master \in ctl.sss

\* Else two brokers write different messages under one epoch.
OneMasterPerEpoch ==
  \A a, b \in Broker : role[a] = "Master" /\ role[b] = "Master" /\ known[a] = known[b] => a = b

\* Else a master that was elected once more, and does not know, waits for the members of that epoch
\* and writes in its old one.
SetOfItsEpoch ==
  \A m \in Broker : role[m] = "Master" => views[local[m].epoch].epoch = known[m]

\* Else messages of a master count to an epoch that is not its own.
RoleAtomic == \A b \in Broker : role[b] = "Master" => LastEpoch(epochs[b]) = known[b]

\* Else replicas are cut at wrong borders, or keep different messages (EpochTruncation).
EpochFaithful == \A b \in Broker : IsFaithful(epochs[b], log[b])
LogMatching == \A a, b \in Broker : a # b => Matching(log[a], log[b])

\* Else a message counts as copied that the slave does not have, or to a broker that is no master
\* any more.
ConnSound ==
  \A m, s \in Broker :
    /\ conn[m][s].ack <= conn[m][s].reported
    /\ link[s] = m => /\ conn[m][s].inc = inc[s]
                      /\ conn[m][s].reported = Len(log[s])
                      /\ role[s] = "Slave" /\ role[m] = "Master"

\* Else the master does not wait for a broker that may be elected.
SSSCoverage == \A m \in Broker : IsCurrent(m) => ctl.sss \subseteq AckSet(m)

\* ---- Invariants: safety ----

\* Else a broker may be elected that lacks an acknowledged message.
AckedInSSS == \A b \in Fit : IsPrefix(acked, log[b])

\* Else an acknowledged message is not on the master.
NoAckedLoss == \A m \in Broker : IsCurrent(m) => IsPrefix(acked, log[m])

\* Else a message that a consumer has seen disappears.
VisibleInSSS == \A b \in Fit : IsPrefix(seen, log[b])

\* Else a proposal of the past changes the set of the present.
AlterFenced ==
  [][ctl'.sss # ctl.sss /\ ctl'.master = ctl.master /\ ctl'.sss # {} =>
       \E r \in alters :
         /\ r.from = ctl.master /\ r.epoch = ctl.epoch /\ r.exp = ctl.sssEpoch
         /\ ctl.master \in r.set /\ r.set = ctl'.sss]_vars

\* Else old requests and old masters pass for new ones.
CtlEpochMonotone ==
  [][/\ ctl'.epoch >= ctl.epoch /\ ctl'.sssEpoch >= ctl.sssEpoch
     /\ ctl'.master \notin {ctl.master, None} => ctl'.epoch > ctl.epoch]_vars

\* Else a slave drops newer records for a master that was replaced.
FollowFencing ==
  [][\A s \in Broker : link[s] = None /\ link'[s] # None => known[link'[s]] >= known[s]]_vars

\* Else a healthy master is deposed.
NoSpuriousElect == [][\A b \in alive \ alive' : role[b] = "Down"]_vars

\* ---- Refinement ----

\* What a user sees of all this.
Serving == IF \E m \in Broker : IsCurrent(m)
           THEN [up |-> TRUE, log |-> log[ctl.master]]
           ELSE [up |-> FALSE, log |-> <<>>]
AL == INSTANCE AckedLog WITH serving <- Serving
Refinement == AL!Spec
\* The same as a state of AckedLog, for runs.
UserView == [acked |-> acked, seen |-> seen, serving |-> Serving]

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

NoZombie ==                 \* a master was replaced, does not know, and its successor acts
  Cardinality({b \in Broker : role[b] = "Master"}) <= 1
NoFailover ==               \* an acknowledged message outlives its master
  \A m \in Broker : IsCurrent(m) /\ acked # <<>> => acked[Len(acked)] = known[m]
NoAckedBySet ==             \* a message is acknowledged by more than one replica
  ~(acked # <<>> /\ Cardinality(Fit) > 1)
NoStaleProposal ==          \* a proposal of a master epoch that is over is under way
  \A r \in alters : r.epoch = ctl.epoch
NoUnfitMember ==            \* a member is back without an acknowledged message
  \A b \in ctl.unfit : IsPrefix(acked, log[b])
NoRefusal ==                \* a proposal was refused
  \A e \in 1..(Len(views) - 1) : views[e] # views[e + 1]
NoHalfOpen ==               \* a master hears a report of a slave that has restarted since
  \A m, s \in Broker : conn[m][s].ack < conn[m][s].reported => conn[m][s].inc = inc[s]

-----------------------------------------------------------------------------
\* ---- Liveness ----

Fairness ==
  /\ WF_vars(\E c \in Broker : ElectMaster(c))
  /\ \A b \in Broker : WF_vars(BecomeMaster(b)) /\ WF_vars(\E n \in Nat : EvictBroker(b, n))
  /\ \A m \in Broker : WF_vars(AlterSyncStateSet(m) \/ RefuseAlter(m))
  /\ \A m \in Broker : WF_vars(LearnSyncStateSet(m))

FairSpec == Spec /\ Fairness

\* While a member with a whole log stays up, the group gets a master and keeps it, once operators
\* and crashes leave it alone.
ElectLive ==
  (\E b \in Broker : <>[](b \in Fit /\ role[b] # "Down")) => <>[](\E m \in Broker : IsCurrent(m))

\* While its master is current, a proposal is decided, and the master hears of it.
ProposalEnds ==
  \A m \in Broker : <>[]IsCurrent(m) => []<>(pend[m] = NoProposal)

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ AckedInSSS /\ NoAckedLoss /\ VisibleInSSS /\ LogMatching)
=============================================================================

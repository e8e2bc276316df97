------------------------ MODULE InductiveSyncStateSet ------------------------
(* What must be added to the invariants of SyncStateSet so that each step keeps all of them, from
   every state in which they hold, reachable or not: an inductive invariant.  z3 proves that for
   logs, epochs and incarnations of any size (rocketproof prove SyncStateSet); TLC looks at these
   here, too, in the reachable states of a small model.                                          *)
EXTENDS SyncStateSetProperties

Acting == role = "Master"
Last == Len(views)

\* Part of TypeOK that is needed.
Naturals ==
  /\ acked >= 0 /\ visible >= 0 /\ confirm >= 0 /\ start >= 0
  /\ \A b \in Broker : end[b] >= 0 /\ inc[b] >= 0

\* The master is a member as what it was when it was elected, and stays one.
MasterStays ==
  Acting =>
    /\ up[Master]
    /\ inc[Master] = 0
    /\ <<Master, 0>> \in local
    /\ \A p \in pend : <<Master, 0>> \in p.set

\* A broker that runs has said what it lost.
TornIsDown == \A b \in Broker : up[b] => ~torn[b]

\* The master knows the last set of the controller, or the one before it.
KnownEpoch ==
  /\ Last >= 1
  /\ Acting => sssE >= 1 /\ sssE <= Last /\ Last <= sssE + 1 /\ local = views[sssE]

\* The last set that anybody can learn of is the controller's, and an election takes from it.
LastView ==
  /\ ctl.master = Master => ctl.sssE = Last /\ ctl.sss = views[Last]
  /\ ctl.sss \subseteq views[Last]
  /\ ctl.sssE >= Last

\* What the master does not know yet is what became of its proposal.
UnknownIsPending ==
  Acting /\ sssE < Last => \E p \in pend : views[Last] \in {p.set, local}

\* What waits to be sent is the proposal, for the first time, and nobody has decided it.
QueueUnsent ==
  /\ Acting => queue \subseteq pend
  /\ \A r \in alters : r \notin queue
  /\ Acting /\ sssE < Last => queue = {}

\* The proposal was made from the set that the master knows.
PendingFromKnown == Acting => \A p \in pend : p.exp = sssE /\ p.base = local

\* No request expects an epoch that is yet to come; the last one is the master's proposal.
AlterKnown ==
  \A r \in alters :
    /\ r.exp <= Last
    /\ Acting => r.exp <= sssE
    /\ Acting /\ r.exp = sssE => r \in pend

\* Nobody is a member as an incarnation that is yet to come.
MembersBorn ==
  /\ \A m \in ctl.sss \cup Required \cup views[Last] : m[2] \in 0..inc[m[1]]
  /\ \A r \in alters : \A m \in r.set : m[2] \in 0..inc[m[1]]
  /\ \A s \in Slave : conn[s] # NoConn => conn[s].inc \in 0..inc[s]

\* A master that has restarted has no connections.
ConnectionsOfActing == \A s \in Slave : conn[s] # NoConn => Acting

\* Whoever counts and is connected has, or has had at its last report, what is confirmed.
ReportedConfirmed ==
  Acting => \A m \in Others(Required) :
    conn[m[1]] # NoConn /\ conn[m[1]].inc = m[2] =>
      /\ confirm <= conn[m[1]].reported
      /\ conn[m[1]].ack # -1 => confirm <= conn[m[1]].ack

\* Nothing more could be confirmed now.
ConfirmFresh == Acting => Confirmed(Required, conn, end[Master], confirm) <= confirm

AckedConfirmed == Acting => acked <= confirm
VisibleConfirmed == Acting => visible <= confirm

\* As JoinReady, for consumers.
VisibleJoinReady ==
  \A r \in alters : Passes(r) => \A m \in Admitted(r) : InForce(m) => visible <= end[m[1]]
=============================================================================

---------------------------- MODULE MutSyncStateSet ----------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says which
   operator of the spec each one replaces, and the property that must find it.
   B.. are entries of the museum of real bugs, W.. windows in which a replica may lose what was
   acknowledged; the others are tags of `CHECK` in the spec.                                    *)
EXTENDS MCSyncStateSet

\* B14, apache/rocketmq#5663: the master counts the old set until the controller's answer arrives.
B14AckSet(known, proposals) == known
\* W2: a slave that is to be taken out counts no longer when the request is made, nor for the next one.
W2AckSet(known, proposals) == IF proposals = {} THEN known ELSE UNION {p.set : p \in proposals}
W2Base == W2AckSet(local, pend)
\* W10: allAckInSyncStateSet is false and inSyncReplicas is 1, as shipped.
W10AckSet(known, proposals) == {}

\* The same for producers alone: confirmOffset is that of the set.
MasterAckGate(n) == TRUE

\* B15, #6662: the minimum is taken over the members that have a connection.
B15Confirmed(S, c, own, old) ==
  IF \E m \in Others(S) : Connected(m, c) /\ ~Heard(m, c) THEN old
  ELSE MinOf({own} \cup Reports({m \in Others(S) : Heard(m, c)}, c))
\* B16, #6728: a member that has just connected counts as -1.
B16Confirmed(S, c, own, old) ==
  IF \E m \in Others(S) : ~Connected(m, c) THEN old
  ELSE MinOf({own} \cup Reports(Others(S), c))
\* B19, what #6729 left: a member that has just connected does not count.
B19Confirmed(S, c, own, old) ==
  IF \E m \in Others(S) : ~Connected(m, c) THEN old
  ELSE MinOf({own} \cup Reports({m \in Others(S) : Heard(m, c)}, c))
\* GroupTransferService with inSyncReplicas: acknowledgements are counted, whoever sent them.
CountedGate(n) ==
  Cardinality({s \in Slave : conn[s] # NoConn /\ conn[s].ack >= n}) + 1
    >= Cardinality(AckSet(local, pend))
\* B17, #4449: a record is shown when it begins below confirmOffset.
B17Served == Min(confirm + 1, end[Master])
\* CommitLog.getConfirmOffset: a master whose known set is itself shows all, also while a proposal is
\* undecided.
AloneServed == IF Names(local) = {Master} THEN end[Master] ELSE confirm

\* B21, #9897: a second proposal is made from the known set while the first is undecided.
B21MayPropose == Cardinality(pend) < 2
\* B79, what #5663 left: the second proposal replaces the first in the set that counts.
B79WithProposal(proposals, p) == {p}
\* B81: the slave was ready when it reported; records were acknowledged since.
B81CaughtUp(s) == conn[s].ready
ExpandEpochHasEpochStart(s) == TRUE
\* B25, #7219, #4422: a slave without a connection has no time to compare, and stays.
B25Removable == {s \in Slave : conn[s] # NoConn}
\* The master takes itself out.
SelfShrinkRemovable == Broker

\* B22: the expected epoch is read when the request is sent.
B22Stamped(p) == [p EXCEPT !.exp = sssE]
B22Decided(p, e) == p \notin queue /\ p.exp < e
\* ReplicasManager.checkSyncStateSetAndDoReport: which members are behind is looked up in the set that
\* is known, the result is compared with the one that is known then, and sent with its epoch.  Nobody
\* waits for who joins: the look has changed nothing.
StaleLookSendable ==
  queue \cup {[set |-> views[e], exp |-> sssE, base |-> local] :
               e \in {x \in DOMAIN views : x < sssE /\ views[x] # local}}
\* B20: a proposal that was refused stays.
B20Ends(p, e) == Decided(p, e) /\ views[p.exp + 1] = p.set
\* B80: any success ends all proposals.
B80Ends(p, e) == Decided(p, e) \/ e > sssE
\* B82: an answer that does not come in time, or a poll that shows nothing new, ends the proposal.
B82Ends(p, e) == TRUE
\* An answer that was overtaken by a newer one is taken for new.
LateSetIsNews(e) == TRUE
\* The master takes what it asked for as decided, although it was refused.
AdoptAdopted(e) ==
  IF \E p \in pend : Decided(p, e) THEN UNION {p.set : p \in pend} ELSE views[e]
\* B84: a master that restarts is master again in the same epoch, and has forgotten its requests.
B84RoleAfterRestart == "Master"
B84MasterAfterRestart == Master
\* B83: a slave reports where the two logs should agree, not what it has.
B83FirstReport(s, own) == end[Master]

DeposedFromMaster(r) == TRUE
\* B36: the request was checked when it came in; it is applied to whatever is there later.
B36FromCurrent(r) == TRUE
HasMasterKeepsMaster(r) == TRUE
RegisteredIsRegistered(m) == TRUE
SpentEpochAfterRefusal == ctl.sssE
\* B85: a request names brokers, not incarnations.
B85Admitted(r) == {<<m[1], inc[m[1]]>> : m \in r.set}
\* W3: a member that restarted and lost its tail is elected.
W3MayElect(b) == up[b] /\ b \in Names(ctl.sss)
\* W9: an unclean election.
W9MayElect(b) == up[b]
UnbumpedEpochAfterElection == ctl.sssE
=============================================================================

--------------------------- MODULE MutReplicaGroup ---------------------------
(* The known bugs, and the guards without which a property falls.  checks.toml says which operators
   of the spec each one replaces, and the property that must find it.
   B.. are entries of the museum of real bugs, W.. are ways to lose a message that have no number
   there; the others are tags of `CHECK` in the spec.                                            *)
EXTENDS MCReplicaGroup

\* B04: the last entry that stays keeps the end that it had.
B04EpochsAfterCut(s, cp) == SelectSeq(epochs[s], LAMBDA x : x.s < cp)
\* 5.4.0 and later: the cache is never cut.
KeptEpochsEpochsAfterCut(s, cp) == epochs[s]

\* B10: a restarted master is master again with the same epoch, which now begins at its log's end.
\* B84: the same, and the cache is right; but the master forgot a proposal that is under way.
B10MasterAfterRestart(b) == ctl.master
B84MasterAfterRestart(b) == IF ctl.master = b /\ b \in torn THEN None ELSE ctl.master
B84EpochsOfMaster(b, epoch) ==
  IF LastEpoch(epochs[b]) = epoch THEN epochs[b]
  ELSE AppendEpoch(TruncateSuffixByEpoch(epochs[b], epoch), epoch, Len(log[b]))
\* It hears so when it registers.
B84NewMasterEpoch(b, e) ==
  views[e].epoch > known[b]
  \/ (role[b] # "Master" /\ ctl.master = b /\ known[b] = ctl.epoch /\ e = Len(views))

\* B11: a slave follows whoever has the address of the master.
B11MayFollow(s, m) == TRUE

\* B14, apache/rocketmq#5663: the master waits for its old set until it hears of the new one.
B14AckSet(m) == local[m].set

\* The master no longer waits for whom it has proposed to remove.
W2AckSet(m) == IF pend[m] = NoProposal THEN local[m].set ELSE pend[m].set

\* A set of one counts as that of its master, which then waits for nobody (GroupTransferService).
OneMemberCovered(m) ==
  LET Enough(n) == IF ~AllAckInSyncStateSet
                   THEN Cardinality({s \in Broker : AckOf(m, s) >= n}) >= InSyncReplicas
                   ELSE Cardinality(AckSet(m)) = 1 \/ \A s \in AckSet(m) : AckOf(m, s) >= n
      N == {n \in 0..Len(log[m]) : Enough(n)}
  IN IF N = {} THEN 0 ELSE MaxOf(N)

\* B25, #4422: a master that never caught up with itself proposes to leave the set.
B25MayShrink(m, S) == S \subseteq local[m].set
HasMasterHasMaster(r) == TRUE

\* B26, #6342: a new master takes itself for the whole set.
B26SetOfMaster(b, e) == {b}

\* B28, #11045: the late close of an old channel evicts the broker that has a new one.
B28OwnsEntry(b, n) == TRUE

\* B29, #5009: a group is served once, when its master dies.
B29NeedsElection == ctl.sss = {} \/ (ctl.master # None /\ ctl.master \notin alive)

\* B31, #4442: a controller that has just become leader answers with what was before the election.
B31KnownAfterRestart(b) == MaxOf({0, ctl.epoch - 1})

\* B33, #7293: without a master, the checks that name it are skipped.
B33FromMaster(r) == ctl.master \in {r.from, None}
B33HasMaster(r) == ctl.master \in r.set \cup {None}

\* B34, #4808: a broker with a new address is another broker; the set names one that never returns.
B34AliveAfterRestart(b) == alive \ {b}

\* B35, #6508: a restarted master takes writes before it has registered.
B35RoleAfterRestart(b) ==
  IF ctl.master = b /\ LastEpoch(epochs[b]) = ctl.epoch THEN "Master" ELSE "Slave"

\* B36: what was right when it came in is applied as it is, whatever came between.
B36FromMaster(r) == TRUE
B36OfEpoch(r) == TRUE
B36OfSet(r) == TRUE
B36HasMaster(r) == TRUE
\* B37: with the controller's data, the masterEpoch starts again.
B37EpochAfterClean == 0

\* B38: the role is taken although the cache refused the epoch.
B38EpochsOfMaster(b, epoch) ==
  IF epochs[b] # <<>> /\ epochs[b][Len(epochs[b])].s >= Len(log[b]) THEN epochs[b]
  ELSE AppendEpoch(epochs[b], epoch, Len(log[b]))

\* B79: a second proposal takes the place of the first, which the controller still applies.
B79MayPropose(m) == role[m] = "Master"

\* B81: what a slave had reported was compared a while ago, perhaps over a connection that is gone.
B81HasReported(m, s) == s # m

\* B82: a proposal without an answer counts as refused.
B82Ends(r, e) == TRUE
\* The refusal of a copy counts, although another copy was applied.
RefusalEnds(r, e) ==
  r.exp < e
  \/ ~(FromMaster(r) /\ OfEpoch(r) /\ OfSet(r) /\ HasMaster(r) /\ SameIncarnation(r))
\* A refusal changes nothing: the master does not learn of it, and a copy may be accepted.
SpentEpochAfterRefusal == ctl.sssEpoch

\* B83: nothing cuts the cache at start-up, an entry beyond the log has no end, and the slave
\* reports the master's end.
B83EpochsAfterRestart(b) == WithEnds(epochs[b])
B83OwnEnd(s) ==
  IF epochs[s] # <<>> /\ epochs[s][Len(epochs[s])].s > Len(log[s])
  THEN MaxOf({Len(log[b]) : b \in Broker}) ELSE Len(log[s])
B83Reported(s, cp) == cp

\* An election is applied as B36 applies proposals: who was a member may have been taken out since.
LateElectionElectable(c) ==
  /\ c \in alive
  /\ \/ ctl.sss = {} \/ EnableElectUncleanMaster
     \/ Whole(c) /\ \E e \in DOMAIN views : c \in views[e].sss

\* An answer from before the broker restarted makes it a master once more.
LateEpochNewMasterEpoch(b, e) ==
  views[e].epoch > known[b] \/ (views[e].epoch = known[b] /\ role[b] # "Master")
\* An answer that was overtaken takes the set back.
LateSetNewSet(m, e) == TRUE

\* A master that was elected once more works with the set of that election before it knows of it.
OtherEpochOfItsEpoch(m, e) == TRUE

\* The master asks the controller for the incarnation of who joins.
HalfOpenIncarnationOf(m, s) == ctl.inc[s]

\* B85: nothing ties a proposal to the incarnation of who joins.
B85SameIncarnation(r) == TRUE

\* A member that lost its tail in a crash is elected.
W3Whole(c) == TRUE

\* Who is not connected, or has not reported, does not count for confirmOffset (#6662, #6728).
W8VisibleEnd(m) ==
  MinOf({Len(log[m])} \cup {AckOf(m, s) : s \in {x \in AckSet(m) : AckOf(m, x) > 0}})

NewEpochNextEpoch == MaxOf({1, ctl.epoch})
TruncateLogAfterCut(s, cp) == log[s]
MasterEpochOfEpoch(r) == TRUE
SetEpochOfSet(r) == TRUE
ExpandConfirmHasConfirmed(m, s) == TRUE
ExpandEpochHasEpochStart(m, s) == TRUE
=============================================================================

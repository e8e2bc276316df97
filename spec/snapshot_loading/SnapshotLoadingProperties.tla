---------------------- MODULE SnapshotLoadingProperties ----------------------
(* What SnapshotLoading promises: invariants, each with what happens else; situations that must be
   reachable; what a fair node comes to.                                                         *)
EXTENDS SnapshotLoading

TypeOK ==
  /\ agreed \in 0..Len(Terms) /\ kept \in 1..(agreed + 1)
  /\ begin \in Nat \ {0} /\ log \in Seq(Nat) /\ bTerm \in Nat
  /\ \A s \in snaps : s \in File
  /\ mode \in {"down", "loading", "up", "refused"}
  /\ sm \in State /\ applied \in Nat /\ commit \in Nat /\ lastSnap \in Nat
  /\ job = NoJob \/ job \in Job
  /\ crashes \in Nat /\ damaged \in Nat

-----------------------------------------------------------------------------
\* ---- Invariants ----

\* Else clients read what the entries do not say.
SnapExact ==
  /\ \A s \in snaps : s.data = "good" => s.state = Fold(s.idx)
  /\ mode \in {"loading", "up"} => sm = Fold(applied)

\* Else a node keeps, or gives to others, what the group may never agree on.
SnapCommitted == \A s \in snaps : s.idx <= agreed /\ s.term = TermAt(s.idx)

\* A node bears what the disk does to fewer files than it keeps; to none, if its leader has removed
\* a log: an install leaves one file.  One that was never whole counts for as long as it is there; so
\* what follows from this with two files or more (PrefixCovered, SnapAtomic, RefusedByDisk) holds within
\* the bounds of the models, and not with four power cuts: see the README, "What is proved".
DiskFault ==
  IF kept > 1 THEN damaged > 0
  ELSE damaged + Cardinality({s \in snaps : s.data = "bad"}) >= Reserved
\* Files that can stand for the beginning of the log; what the disk took later is its own fault.
Stands(s) == s.data # "bad" /\ s.idx >= begin - 1
\* Else nothing can be read for the entries that are gone,
PrefixCovered == begin > 1 => DiskFault \/ \E s \in Seen : Stands(s)
\* at the next power cut at the latest.
SnapAtomic == begin > 1 => DiskFault \/ \E s \in snaps : s.name = "kept" /\ s.synced /\ Stands(s)

\* Else a node stops for ever although its disk has done what it should.
RefusedByDisk == mode = "refused" => DiskFault

\* Else the next entry cannot be applied.
LoadContiguous == mode = "up" => begin <= applied + 1 /\ applied <= End

\* Else two logs with an entry in common may differ before it.
TermsRise ==
  \A i \in begin..End : (IF i = begin THEN bTerm ELSE log[i - begin]) <= log[i - begin + 1]

\* Else a leader cannot see that the node has what it has, or believes it has what it has not.
BoundaryTerm == bTerm = TermAt(begin - 1)

AppliedLeCommit == mode = "up" => applied <= commit /\ commit <= End /\ commit <= agreed

\* Else an acknowledged entry is gone: whatever of the agreed history is in the log stays there, or
\* is in the state that takes its place.
AckedKept ==
  [][\A i \in begin..End : i <= agreed /\ Has(i, TermAt(i)) =>
       \/ i < begin'
       \/ i \in begin'..(begin' + Len(log') - 1) /\ log'[i - begin' + 1] = TermAt(i)]_vars

\* Else a restart costs as much as before it, and clients see time go back.
SnapMonotone ==
  [][mode = "up" /\ mode' = "up" => applied' >= applied /\ commit' >= commit /\ lastSnap' >= lastSnap]_vars

\* Else every entry costs a copy of the whole state.
SavedSeldom == [][job = NoJob /\ job'.kind = "save" => applied >= lastSnap + Threshold]_vars

\* Else a late message takes a node back.
InstallFresh == [][job = NoJob /\ job'.kind = "install" => job'.idx > commit]_vars

\* Else a fall back to an older snapshot finds its entries gone.  An install leaves one snapshot; and
\* a file that was never whole may be back after a power cut, and is not read again until it is needed.
FallbackKept ==
  [][begin' > begin /\ applied' = applied =>
       Cardinality({s \in snaps : Proven(s) /\ (s.data = "bad" => crashes > 0) /\
                                    s.idx >= begin' - 1}) >= Reserved]_vars

\* ---- Witnesses: situations which must be reachable ----

NoCut ==                                        \* the log is cut, and two snapshots can be loaded
  ~(begin > 1 /\ mode = "up" /\ \E s \in Newest : s.idx >= begin)
NoFallback ==                                   \* an older snapshot serves, and the log behind it
  ~(mode = "up" /\ lastSnap > 0 /\ \E s \in snaps :
      s.data # "good" /\ s.name = "gone" /\ s.idx \in (lastSnap + 1)..End)
NoRefusal == mode # "refused"
NoInstallOverStray ==                           \* a leader's snapshot replaces a log of another
  ~(mode = "up" /\ job.kind = "install" /\ Len(log) > 0 /\ log[Len(log)] = Stray)
NoLateInstall ==                                \* the state machine passes a snapshot on its way
  ~(job.kind = "install" /\ applied > job.idx)
NoRewriting ==                                  \* a file is written again before its removal is sure
  Rewritten = {}
NoRevival ==                                    \* a file that was deleted is back, and does not fit
  ~(\E s \in Seen : ~Continues(s))

-----------------------------------------------------------------------------
\* ---- Liveness ----

Fairness ==
  /\ WF_vars(Start) /\ WF_vars(LoadNewest) /\ WF_vars(Apply)
  /\ WF_vars(Save("good")) /\ WF_vars(DeleteExpired) /\ WF_vars(CutLog)
  /\ WF_vars(SyncTemporary) /\ WF_vars(Rename) /\ WF_vars(SyncDirectory) /\ WF_vars(ReadBack)
  /\ WF_vars(\E i \in Nat : AppendEntry(i)) /\ WF_vars(\E c \in Nat : Commit(c))
  /\ SF_vars(Install("good"))

FairSpec == Spec /\ Fairness

\* A node that is served has all that the group has, however often the leader removes its log.
CatchUpLive == <>[](mode = "refused" \/ applied = agreed)

\* Else the log and old files fill the disk, and a start takes longer and longer.
SpaceLive ==
  <>[](mode = "refused" \/
         /\ applied - lastSnap < Threshold
         /\ Cardinality(Seen) <= Reserved
         /\ Cardinality(Seen) = Reserved => MinOf({s.idx : s \in Seen}) < begin)

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ SnapExact /\ SnapAtomic /\ PrefixCovered /\ LoadContiguous)
=============================================================================

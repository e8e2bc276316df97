---------------------- MODULE InductiveSnapshotLoading ----------------------
(* What must be added to the invariants of SnapshotLoading so that each step keeps all of them, from
   every state in which they hold, reachable or not: an inductive invariant.  z3 proves that for
   logs, indexes and terms of any size (rocketproof prove SnapshotLoading).                      *)
EXTENDS SnapshotLoadingProperties

\* NumberAssumption, with all pairs of entries in the place of neighbours; terms are natural numbers.
ConstantsAssumed ==
  /\ Threshold > 0 /\ Reserved > 0 /\ Stray >= 0
  /\ \A i \in DOMAIN Terms : Terms[i] >= 0 /\ Terms[i] # Stray
  /\ \A i, j \in DOMAIN Terms : i <= j => Terms[i] <= Terms[j]

\* Part of TypeOK that is needed.
Numbers ==
  /\ agreed \in 0..Len(Terms) /\ kept \in 1..(agreed + 1) /\ begin >= 1
  /\ applied >= 0 /\ commit >= 0 /\ lastSnap >= 0 /\ damaged >= 0
  /\ \A s \in snaps : s.idx >= 1
  /\ job.kind = "none" => job = NoJob

\* ---- The log and the state ----

\* Before an entry of the history, the log has nothing else than that.
LogAgrees ==
  \A i, j \in begin..End :
    i <= j /\ log[j - begin + 1] # Stray => i <= Len(Terms) /\ log[i - begin + 1] = Terms[i]

\* Nor up to what is committed.
CommittedAgrees ==
  mode = "up" => \A i \in begin..End : i <= commit => log[i - begin + 1] = Terms[i]

\* A node that does not run has nothing in memory.
NothingInMemory ==
  mode # "up" => sm = {} /\ applied = 0 /\ commit = 0 /\ lastSnap = 0 /\ job = NoJob

\* ---- Files ----

\* What is being written is one file, and ahead of all snapshots that count.
JobFile ==
  IF job = NoJob THEN \A s \in snaps : s.name \notin {"tmp", "new"}
  ELSE /\ job.idx > lastSnap
       /\ job.kind = "save" => job.idx <= applied
       /\ \E s \in snaps : s.idx = job.idx /\ s.name # "gone"
       /\ \A s \in snaps : s.name \in {"tmp", "new"} => s.idx = job.idx

\* Of the files of an index one is in force, and one may be about to take its place.
NamesDiffer ==
  \A s, t \in snaps : s # t =>
    /\ s.name = "tmp" => t.name \notin {"tmp", "new"}
    /\ s.idx = t.idx => s.name # t.name /\ (s.name = "kept" => t.name = "tmp")

\* Contents are on the disk before names are.
NamedSynced == \A s \in snaps : s.name # "tmp" => s.synced

RottenCounted == \A s \in snaps : s.data = "rotten" => damaged > 0

\* ---- What stands for the beginning of the log ----

\* The last snapshot that was read is there, and nothing behind it is gone.
LastSnapThere ==
  mode = "up" =>
    /\ begin <= lastSnap + 1 /\ lastSnap <= applied
    /\ lastSnap > 0 => \E s \in snaps : s.idx = lastSnap /\ s.name = "kept" /\ s.data # "bad"

\* PrefixCovered and SnapAtomic, as long as the disk has damaged no file.
Covered ==
  begin > 1 => damaged > 0 \/ \E s \in snaps : s.name = "kept" /\ s.synced /\ Stands(s)
RefusedByDamage == mode = "refused" => damaged > 0

\* They are the invariants themselves where one snapshot is kept.
OneKept == Reserved = 1 => PrefixCovered /\ SnapAtomic /\ RefusedByDisk
=============================================================================

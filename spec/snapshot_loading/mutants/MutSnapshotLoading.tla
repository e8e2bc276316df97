--------------------------- MODULE MutSnapshotLoading ---------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says which
   operator of the spec each one replaces, and the property that must find it.
   B.. are entries of the museum of real bugs; the others are tags of `CHECK` in the spec, many of
   them holes of the published design.                                                           *)
EXTENDS MCSnapshotLoading

\* What another leader wrote behind the entry stays.
TruncatedLogWith(i) ==
  [k \in 1..Max(Len(log), i - begin + 1) |-> IF k = i - begin + 1 THEN Terms[i] ELSE log[k]]
\* What the node has is committed, although the group may not agree on it yet.
CommitAgreedMayCommit(c) == TRUE

\* The index in the file is not that of the state: openmessaging/dledger#268 took the entry that
\* had triggered the snapshot.
SnapAtAppliedSnapIndex == commit

\* A snapshot is saved whenever an entry was applied.
SaveSeldomIsTimeToSave == applied > lastSnap

\* The file has its name before it has its contents: dledger never synchronizes snapshots.
SyncFirstMayRename(s) == TRUE
\* The published design renames, and that is all.
DirectorySyncMayReadBack(s) == s.name # "tmp"
DirectorySyncProven(s) == s.name \in {"new", "kept"} /\ s.idx <= lastSnap
\* It deletes the old ones when the new one is written, whatever the disk has made of it.
ReadBackReadsBack(s) == TRUE
\* All files but the newest go when it is renamed: nobody has read it yet.
ExpiredExpiredFiles == {s \in Seen : \E t \in Seen : t.idx > s.idx}

\* A damaged file is passed over, and stays.
DamagedGoesWithoutDamaged(s) == snaps
\* Nothing is ever deleted.
OldGoExpiredFiles == {}
LogCutCutTo == 0

\* B55, openmessaging/dledger#268: deleted up to what is applied, although the snapshot says less.
B55CutTo == IF Newest = {} THEN 0 ELSE applied
\* B68, openmessaging/dledger#236: the disk cleaner runs beside the state machine.
B68CutTo == applied
\* The published design deletes up to the newest snapshot, and keeps three of them.
CutAtOldestCutTo == IF Newest = {} THEN 0 ELSE MaxOf({s.idx : s \in Newest})
\* RESET_BUT_KEEP_SOME gives the term of the snapshot to a smaller index.
BoundaryOfCutTermOfCut(i) == TermAt(MaxOf({i} \cup {s.idx : s \in Newest}))

\* The published header has a checksum, and nobody says of what; the unmerged branch has none.
CrcIsWhole(s) == TRUE
\* dledger compares the index only.
TermFirstIsOlder(s) == applied > s.idx
\* What is on the disk is loaded, whatever the state machine has done meanwhile.
ValidityValidity(s) == IF IsWhole(s) THEN "loadable" ELSE "failed"
\* B57: the published design falls back to a snapshot whose log is gone.
B57Continues(s) == TRUE
B57KeepsLog(s) == begin > s.idx + 1 \/ Has(s.idx, s.term)
\* B53: putAll without clear.
B53Loaded(old, new) == old \cup new
\* The tables are cleared, and filled while the file is read (ReplicasInfoManager.deserializeFrom).
FreshObjectAfterFailedLoad(old) == Junk
\* B58: the commit index is the leader's business.
B58CommitAfterLoad(i) == commit
\* The log is reset, whatever it has.
SuffixKeptKeepsLog(s) == FALSE
\* The log stays, whatever it has.
SuffixDroppedKeepsLog(s) == s.idx \in (begin - 1)..End
\* B59: the boundary is not recovered.
B59BoundaryAfterStart == 0
\* "None left": carry on with an empty state machine.
RefuseGapMayReplay == TRUE

\* B54: there is no install; the published design does not mention it.
B54MayInstall == FALSE
\* An install is taken if it is not older than the last snapshot.
InstallFreshIsFresh(i) == i >= lastSnap
\* B56: the place of the install under way is never free again.
B56AfterInstall == job
=============================================================================

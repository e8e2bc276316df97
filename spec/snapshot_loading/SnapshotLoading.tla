--------------------------- MODULE SnapshotLoading ---------------------------
(* One node of a Raft group: its state machine, its log, and snapshots of the one in place of the
   beginning of the other: RIP-59, and the install from a leader that it lacks.

   The group agrees on a history of entries; the node gets them from leaders, applies them in order,
   and after every Threshold of them writes its state to a file.  The file is written at a temporary
   place, synchronized, renamed, the directory synchronized, and then read back; only after that the
   oldest file and the beginning of the log may go.  A node that starts loads the newest file that
   is whole and goes on with the log behind it.  A node that lacks entries which its leader has no
   more gets the leader's snapshot, by the same way over the disk.

   Modelled: power cuts before every one of these steps, at which unsynchronized contents are torn
   and of the unsynchronized changes of names any part survives; a disk that writes something else
   than was written, and one that damages a file later; entries of a leader that the group does not
   follow, in the node's log; messages of leaders that come late and twice; restart, load, fall back
   to older snapshots, and a clear refusal if none serves.
   Not modelled: the votes by which the group agrees, snapshots in several messages, tearing of the
   log (an entry is durable before it is acknowledged, and the log is replaced as a whole), a
   disk that damages the log, a process that ends while the disk goes on.

   Conventions: indexes count from 1; 0 is before the first entry, and has term 0.  The state is the
   set of the last two entries: each entry adds itself and removes the one before the last.  So it
   shows an entry that was left out, one that was applied twice, and what should be gone.
   Source: published rule: RIP-59, "snapshot loading", "snapshot saving"; SnapshotManager,
   StateMachineCaller and DLedgerEntryPusher of openmessaging/dledger at d054548;
   StatemachineSnapshotFileGenerator of the branch snapshot of apache/rocketmq.                    *)
EXTENDS Integers, Sequences, FiniteSets, Extrema

CONSTANTS
  Terms,           \* the terms of the entries on which the group will agree
  Stray,           \* the term of entries of a leader that it will not follow
  Threshold,       \* entries between two snapshots (snapshotThreshold)
  Reserved         \* snapshots that are kept (maxSnapshotReservedNum)

ASSUME NumberAssumption ==
  /\ Threshold \in Nat \ {0} /\ Reserved \in Nat \ {0}
  /\ \A k \in DOMAIN Terms : Terms[k] # Stray /\ (k > 1 => Terms[k - 1] <= Terms[k])

VARIABLES
  \* the group
  agreed,      \* number of entries on which it has agreed
  kept,        \* first index in the leader's log
  \* the node's disk
  begin,       \* first index in its log, if there is any
  log,         \* the terms of its entries from there on
  bTerm,       \* boundary: the term of the entry before the first
  snaps,       \* files (see File)
  \* the node's memory
  mode,        \* "down", "loading", "up" or "refused": it cannot start
  sm,          \* the state: set of <<index, term>>
  applied,     \* index of the last entry in the state
  commit,      \* index up to which it knows that the group has agreed
  lastSnap,    \* index of the last snapshot that it has read
  job,         \* the snapshot that is being written (see Job), or NoJob
  \* history, read by no guard
  crashes,     \* number of power cuts
  damaged      \* number of files that the disk has damaged after they were durable

vars == <<agreed, kept, begin, log, bTerm, snaps, mode, sm, applied, commit, lastSnap, job,
          crashes, damaged>>
groupVars == <<agreed, kept>>
logVars == <<begin, log, bTerm>>
stateVars == <<sm, applied, commit>>
memoryVars == <<mode, sm, applied, commit, lastSnap, job>>
historyVars == <<crashes, damaged>>

-----------------------------------------------------------------------------
State == SUBSET (Nat \X Nat)
File == [idx : Nat, term : Nat, state : State,
         data : {"good", "bad", "rotten"},       \* bad: never whole; rotten: no more
         synced : BOOLEAN,                       \* its contents survive a power cut
         name : {"tmp", "new", "kept", "gone"}]  \* new, gone: not yet for sure
Job == [kind : {"save", "install"}, idx : Nat]
NoJob == [kind |-> "none", idx |-> 0]

Init ==
  /\ agreed = 0 /\ kept = 1
  /\ begin = 1 /\ log = <<>> /\ bTerm = 0 /\ snaps = {}
  /\ mode = "up" /\ sm = {} /\ applied = 0 /\ commit = 0 /\ lastSnap = 0 /\ job = NoJob
  /\ crashes = 0 /\ damaged = 0

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action) == TRUE

\* ---- Logs and files ----

TermAt(i) == IF i = 0 THEN 0 ELSE Terms[i]           \* of the entry that the group agrees on
Fold(n) == {<<i, Terms[i]>> : i \in {n - 1, n} \ {-1, 0}}
End == begin + Len(log) - 1
Has(i, t) == \/ i = begin - 1 /\ bTerm = t
             \/ i \in begin..End /\ log[i - begin + 1] = t
TermOfApplied ==
  IF \E x \in sm : x[1] = applied THEN (CHOOSE x \in sm : x[1] = applied)[2] ELSE 0

Seen == {s \in snaps : s.name \in {"new", "kept"}}
Named(name) == {s.idx : s \in {x \in snaps : x.name = name}}
Replaced(s, t) == (snaps \ {s}) \cup {t}
Removed(S) == (snaps \ S) \cup {[s EXCEPT !.name = "gone"] : s \in S}
\* A file that is not what was written goes: it must not count later.              \* CHECK DamagedGoes
WithoutDamaged(s) == Removed({s})

\* ---- The group ----

Agree ==
  /\ agreed < Len(Terms)

  /\ agreed' = agreed + 1
  /\ UNCHANGED <<kept, logVars, snaps, memoryVars, historyVars>>

\* The leader has a snapshot of all up to i, and removes its log up to there.
LeaderCompacts(i) ==
  /\ Explored("LeaderCompacts")
  /\ i \in kept..agreed

  /\ kept' = i + 1
  /\ UNCHANGED <<agreed, logVars, snaps, memoryVars, historyVars>>

\* ---- The node follows ----

\* An entry takes the place of what another leader wrote there, and behind it.     \* CHECK Truncated
LogWith(i) == Append(SubSeq(log, 1, i - begin), Terms[i])

\* It appends entry i behind the one before it, mostly before the group has agreed on it.
AppendEntry(i) ==
  /\ mode = "up"
  /\ i \in kept..Len(Terms)
  /\ Has(i - 1, TermAt(i - 1)) /\ ~Has(i, TermAt(i))

  /\ log' = LogWith(i)
  /\ UNCHANGED <<groupVars, begin, bTerm, snaps, memoryVars, historyVars>>

\* It appends an entry of a leader that will not last.
AppendStray ==
  /\ Explored("AppendStray")
  /\ mode = "up"
  /\ (IF log = <<>> THEN bTerm ELSE log[Len(log)]) <= Stray

  /\ log' = Append(log, Stray)
  /\ UNCHANGED <<groupVars, begin, bTerm, snaps, memoryVars, historyVars>>

\* The node commits what the group has agreed on, not all that it has.             \* CHECK CommitAgreed
MayCommit(c) == c <= agreed

\* It learns that the group has agreed on what it has up to c.
Commit(c) ==
  /\ mode = "up"
  /\ c \in (commit + 1)..Len(Terms) /\ MayCommit(c)
  /\ Has(c, TermAt(c))

  /\ commit' = c
  /\ UNCHANGED <<groupVars, logVars, snaps, mode, sm, applied, lastSnap, job, historyVars>>

\* The next entry changes the state: it adds itself, and removes the one before the last.
Apply ==
  /\ mode = "up"
  /\ applied < commit
  /\ applied + 1 \in begin..End

  /\ sm' = {x \in sm : x[1] = applied} \cup {<<applied + 1, log[applied + 1 - begin + 1]>>}
  /\ applied' = applied + 1
  /\ UNCHANGED <<groupVars, logVars, snaps, mode, commit, lastSnap, job, historyVars>>

\* ---- Writing a snapshot ----

\* The file is written at the temporary place, in which nothing is left of before.
Write(kind, i, t, state, data) ==
  /\ job' = [kind |-> kind, idx |-> i]
  /\ snaps' = {s \in snaps : s.name # "tmp"} \cup
       {[idx |-> i, term |-> t, state |-> state, data |-> data, synced |-> FALSE, name |-> "tmp"]}

\* The file says which index it holds: the last one applied, of the same moment.   \* CHECK SnapAtApplied
SnapIndex == applied

\* One snapshot stands for so many entries.                                        \* CHECK SaveSeldom
IsTimeToSave == applied - lastSnap >= Threshold

\* It is time for a snapshot of the own state; the disk may write something else.
Save(data) ==
  /\ Explored("Save")
  /\ mode = "up"
  /\ job = NoJob
  /\ IsTimeToSave
  /\ data = "bad" => Explored("WriteBad")

  /\ Write("save", SnapIndex, TermOfApplied, sm, data)
  /\ UNCHANGED <<groupVars, logVars, mode, stateVars, lastSnap, historyVars>>

\* A leader sends its snapshot to who lacks what is before it.                     \* CHECK B54
MayInstall == TRUE
\* The node takes what is ahead of all that it knows.                              \* CHECK InstallFresh
IsFresh(i) == i > commit

\* The leader's snapshot arrives, late perhaps, in one message.
Install(data) ==
  /\ mode = "up"
  /\ job = NoJob
  /\ kept > 1 /\ MayInstall
  /\ IsFresh(kept - 1)
  /\ data = "bad" => Explored("WriteBad")

  /\ Write("install", kept - 1, TermAt(kept - 1), Fold(kept - 1), data)
  /\ UNCHANGED <<groupVars, logVars, mode, stateVars, lastSnap, historyVars>>

\* The file of the job.
Writing == CHOOSE s \in snaps : IF \E x \in snaps : x.name = "tmp" THEN s.name = "tmp"
                                ELSE s.idx = job.idx /\ s.name # "gone"

SyncTemporary ==
  /\ job # NoJob
  /\ ~Writing.synced

  /\ snaps' = Replaced(Writing, [Writing EXCEPT !.synced = TRUE])
  /\ UNCHANGED <<groupVars, logVars, memoryVars, historyVars>>

\* A file gets its name when its contents are on the disk.                         \* CHECK SyncFirst
MayRename(s) == s.synced

Rename ==
  /\ job # NoJob
  /\ Writing.name = "tmp" /\ MayRename(Writing)

  /\ snaps' = {IF s.idx = job.idx THEN [s EXCEPT !.name = IF @ = "tmp" THEN "new" ELSE "gone"] ELSE s
                 : s \in snaps}
  /\ UNCHANGED <<groupVars, logVars, memoryVars, historyVars>>

\* All changes of names are for sure.
SyncDirectory ==
  /\ job # NoJob
  /\ Writing.name = "new"

  /\ snaps' = {[s EXCEPT !.name = IF @ = "new" THEN "kept" ELSE @]
                 : s \in {x \in snaps : x.name # "gone"}}
  /\ UNCHANGED <<groupVars, logVars, memoryVars, historyVars>>

\* A file counts when its name is on the disk, too,                                \* CHECK DirectorySync
MayReadBack(s) == s.name = "kept"
\* and when all of it could be read back.                                          \* CHECK ReadBack
ReadsBack(s) == s.data = "good"
\* After an install the place is free for the next one.                            \* CHECK B56
AfterInstall == NoJob
\* The checksum covers every byte, so that nothing else passes for a snapshot.     \* CHECK Crc
IsWhole(s) == s.data = "good"
\* First the term, then the index.                                                 \* CHECK TermFirst
IsOlder(s) == TermOfApplied > s.term \/ (TermOfApplied = s.term /\ applied > s.idx)
\* What the state machine has passed is not loaded again.                          \* CHECK Validity
Validity(s) == IF IsOlder(s) THEN "expired" ELSE IF IsWhole(s) THEN "loadable" ELSE "failed"
\* The snapshot takes the place of what was there; it is not added to it.          \* CHECK B53
Loaded(old, new) == new
\* What is in a snapshot was agreed on.                                            \* CHECK B58
CommitAfterLoad(i) == Max(commit, i)
\* The log behind the snapshot stays if it has the snapshot's last entry,          \* CHECK SuffixKept
\* and otherwise all of it goes.                                                   \* CHECK SuffixDropped
KeepsLog(s) == Has(s.idx, s.term)
Junk == {<<0, 0>>}                                   \* what a file holds that is not whole

\* A snapshot takes the place of the state, and of the log if they do not fit together.
Load(s) ==
  /\ sm' = Loaded(sm, IF s.data = "good" THEN s.state ELSE Junk)
  /\ applied' = s.idx
  /\ commit' = CommitAfterLoad(s.idx)
  /\ lastSnap' = s.idx
  /\ IF KeepsLog(s) THEN UNCHANGED logVars
     ELSE begin' = s.idx + 1 /\ log' = <<>> /\ bTerm' = s.term

\* The file is read back.  One of the node's own is done then; one of the leader is loaded, unless
\* the state machine has passed it meanwhile.
ReadBack ==
  /\ job # NoJob
  /\ Writing.name # "tmp" /\ MayReadBack(Writing)

  /\ IF ~ReadsBack(Writing)
     THEN /\ snaps' = WithoutDamaged(Writing)
          /\ job' = NoJob
          /\ UNCHANGED <<logVars, stateVars, lastSnap>>
     ELSE /\ UNCHANGED snaps
          /\ job' = IF job.kind = "install" THEN AfterInstall ELSE NoJob
          /\ IF job.kind = "install" /\ Validity(Writing) = "loadable" THEN Load(Writing)
             ELSE /\ lastSnap' = Max(lastSnap, job.idx)
                  /\ UNCHANGED <<logVars, stateVars>>
  /\ UNCHANGED <<groupVars, mode, historyVars>>

\* ---- Cleaning up ----

\* Files that were read back, and the newest Reserved ones of them.
Proven(s) == s.name = "kept" /\ s.idx <= lastSnap
Newest == {s \in snaps : Proven(s) /\
             Cardinality({t \in snaps : Proven(t) /\ t.idx > s.idx}) < Reserved}
\* Older files go when there are enough newer ones;                                \* CHECK Expired
\* if they stayed they would fill the disk.                                        \* CHECK OldGo
ExpiredFiles == {s \in Seen : Proven(s) /\ s \notin Newest}

DeleteExpired ==
  /\ mode = "up"
  /\ ExpiredFiles # {}

  /\ snaps' = Removed(ExpiredFiles)
  /\ UNCHANGED <<groupVars, logVars, memoryVars, historyVars>>

\* A log that is never cut fills the disk, too.                                    \* CHECK LogCut
\* It goes up to the oldest file that is kept: so each of them can be loaded.      \* CHECK B55
\* Never without a file                                                            \* CHECK B68
\* and not up to the newest one, when a fall back to an older one is promised.     \* CHECK CutAtOldest
CutTo == IF Cardinality(Newest) < Reserved THEN 0 ELSE MinOf({s.idx : s \in Newest})
\* The boundary of the rest is the last entry that was cut, not another one.       \* CHECK BoundaryOfCut
TermOfCut(i) == log[i - begin + 1]

\* The log is written anew without its beginning, and takes the place of the one before.
CutLog ==
  /\ mode = "up"
  /\ CutTo \in begin..End

  /\ log' = SubSeq(log, CutTo - begin + 2, Len(log))
  /\ bTerm' = TermOfCut(CutTo)
  /\ begin' = CutTo + 1
  /\ UNCHANGED <<groupVars, snaps, memoryVars, historyVars>>

\* ---- Power cuts, damage, and starts ----

\* Files that were deleted and written again, and neither is for sure.
Rewritten == Named("new") \cap Named("gone")

\* Of what was not synchronized the contents are torn, and of the changes of names those of the files
\* `there` survive.  A file that was deleted and written again is there as one of the two, or `lost`.
Crash(there, lost) ==
  /\ Explored("Crash")
  /\ mode \in {"loading", "up"}
  /\ there \subseteq Named("new") \cup Named("gone")
  /\ lost => Rewritten \ there # {}

  /\ snaps' = {[s EXCEPT !.name = "kept", !.data = IF s.synced THEN @ ELSE "bad", !.synced = TRUE]
                 : s \in {x \in snaps : CASE x.name = "kept" -> TRUE
                                          [] x.name = "new" -> x.idx \in there
                                          [] x.name = "gone" -> x.idx \notin there /\
                                                                ~(lost /\ x.idx \in Rewritten)
                                          [] OTHER -> FALSE}}
  /\ mode' = "down"
  /\ sm' = {} /\ applied' = 0 /\ commit' = 0 /\ lastSnap' = 0 /\ job' = NoJob
  /\ crashes' = crashes + 1
  /\ UNCHANGED <<groupVars, logVars, damaged>>

\* The disk damages a file that it had.
Rot(i) ==
  /\ Explored("Rot")
  /\ \E s \in snaps :
       /\ s.idx = i /\ s.name = "kept" /\ s.data = "good"
       /\ snaps' = Replaced(s, [s EXCEPT !.data = "rotten"])
  /\ damaged' = damaged + 1
  /\ UNCHANGED <<groupVars, logVars, memoryVars, crashes>>

\* The boundary is read again at a start.                                          \* CHECK B59
BoundaryAfterStart == bTerm

Start ==
  /\ mode = "down"

  /\ mode' = "loading"
  /\ bTerm' = BoundaryAfterStart
  /\ UNCHANGED <<groupVars, begin, log, snaps, stateVars, lastSnap, job, historyVars>>

\* Without any snapshot the whole log must be there.                               \* CHECK RefuseGap
MayReplay == begin = 1
\* The log must go on where the snapshot ends.                                     \* CHECK B57
Continues(s) == begin <= s.idx + 1
\* A load that fails leaves nothing behind: it fills a fresh object.               \* CHECK FreshObject
AfterFailedLoad(old) == old

\* The newest file is loaded, or removed if it is damaged; without any, the log is all there is.
LoadNewest ==
  /\ mode = "loading"

  /\ IF Seen = {}
     THEN /\ mode' = IF MayReplay THEN "up" ELSE "refused"
          /\ UNCHANGED <<logVars, snaps, stateVars, lastSnap>>
     ELSE LET s == CHOOSE x \in Seen : \A y \in Seen : y.idx <= x.idx
          IN CASE ~IsWhole(s) ->
                    /\ snaps' = WithoutDamaged(s)
                    /\ sm' = AfterFailedLoad(sm)
                    /\ UNCHANGED <<logVars, mode, applied, commit, lastSnap>>
               [] IsWhole(s) /\ ~Continues(s) ->
                    /\ mode' = "refused"
                    /\ UNCHANGED <<logVars, snaps, stateVars, lastSnap>>
               [] OTHER ->
                    /\ Load(s)
                    /\ mode' = "up"
                    /\ UNCHANGED snaps
  /\ UNCHANGED <<groupVars, job, historyVars>>

-----------------------------------------------------------------------------
Next ==
  \/ Agree
  \/ \E i \in Nat : LeaderCompacts(i)
  \/ \E i \in Nat : AppendEntry(i)
  \/ AppendStray
  \/ \E c \in Nat : Commit(c)
  \/ Apply
  \/ \E data \in {"good", "bad"} : Save(data)
  \/ \E data \in {"good", "bad"} : Install(data)
  \/ SyncTemporary
  \/ Rename
  \/ SyncDirectory
  \/ ReadBack
  \/ DeleteExpired
  \/ CutLog
  \/ \E there \in SUBSET Nat, lost \in BOOLEAN : Crash(there, lost)
  \/ \E i \in Nat : Rot(i)
  \/ Start
  \/ LoadNewest

Spec == Init /\ [][Next]_vars
=============================================================================

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
   than it was told, and one that damages a file later; entries of a leader that the group does not
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
EXTENDS Integers, Sequences, FiniteSets

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
\* ---- Types ----

State == SUBSET (Nat \X Nat)
File == [idx : Nat, term : Nat, state : State,
         data : {"good", "bad", "rotten"},       \* bad: never whole; rotten: no more
         synced : BOOLEAN,                       \* its contents survive a power cut
         name : {"tmp", "new", "kept", "gone"}]  \* new, gone: not yet for sure
Job == [kind : {"save", "install"}, idx : Nat]
NoJob == [kind |-> "none", idx |-> 0]

TypeOK ==
  /\ agreed \in 0..Len(Terms) /\ kept \in 1..(agreed + 1)
  /\ begin \in Nat \ {0} /\ log \in Seq(Nat) /\ bTerm \in Nat
  /\ \A s \in snaps : s \in File
  /\ mode \in {"down", "loading", "up", "refused"}
  /\ sm \in State /\ applied \in Nat /\ commit \in Nat /\ lastSnap \in Nat
  /\ job = NoJob \/ job \in Job
  /\ crashes \in Nat /\ damaged \in Nat

-----------------------------------------------------------------------------
\* ---- Logs and states ----

Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Max(S) == CHOOSE x \in S : \A y \in S : y <= x
TermAt(i) == IF i = 0 THEN 0 ELSE Terms[i]           \* of the entry that the group agrees on
Fold(n) == {<<i, Terms[i]>> : i \in {n - 1, n} \ {-1, 0}}
With(state, i, t) == {x \in state : x[1] = i - 1} \cup {<<i, t>>}
Junk == {<<0, 0>>}                                   \* what a file holds that is not whole

End == begin + Len(log) - 1
Has(i, t) == \/ i = begin - 1 /\ bTerm = t
             \/ i \in begin..End /\ log[i - begin + 1] = t
TermOfApplied ==
  IF \E x \in sm : x[1] = applied THEN (CHOOSE x \in sm : x[1] = applied)[2] ELSE 0

\* ---- Files ----

Seen == {s \in snaps : s.name \in {"new", "kept"}}
Temporary == {s \in snaps : s.name = "tmp"}
Writing == CHOOSE s \in snaps :
             IF Temporary # {} THEN s \in Temporary ELSE s.idx = job.idx /\ s.name # "gone"
Named(name) == {s.idx : s \in {x \in snaps : x.name = name}}
Unsure == Named("new") \cup Named("gone")
Rewritten == Named("new") \cap Named("gone")
Replaced(s, t) == (snaps \ {s}) \cup {t}
Removed(S) == (snaps \ S) \cup {[s EXCEPT !.name = "gone"] : s \in S}
AfterDirectorySync ==
  {[s EXCEPT !.name = IF @ = "new" THEN "kept" ELSE @] : s \in {x \in snaps : x.name # "gone"}}

\* ---- Rules for following ----

\* An entry takes the place of what another leader wrote there, and behind it.     \* CHECK Truncated
LogWith(i) == Append(SubSeq(log, 1, i - begin), Terms[i])
\* The node commits what the group has agreed on, not all that it has.             \* CHECK CommitAgreed
MayCommit(c) == c <= agreed

\* ---- Rules for writing ----

\* The file says which index it holds: the last one applied, of the same moment.   \* CHECK SnapAtApplied
SnapIndex == applied
\* A file gets its name when its contents are on the disk,                         \* CHECK SyncFirst
MayRename(s) == s.synced
\* counts when its name is, too,                                                   \* CHECK DirectorySync
MayReadBack(s) == s.name = "kept"
\* and when all of it could be read back.                                          \* CHECK ReadBack
ReadsBack(s) == s.data = "good"
Proven(s) == s.name = "kept" /\ s.idx <= lastSnap
Newest == {s \in snaps : Proven(s) /\
             Cardinality({t \in snaps : Proven(t) /\ t.idx > s.idx}) < Reserved}
\* A file that is not what was written goes: it must not count later.              \* CHECK DamagedGoes
WithoutDamaged(s) == Removed({s})
\* Older files go when there are enough newer ones;                                \* CHECK Expired
\* if they stayed they would fill the disk,                                        \* CHECK OldGo
ExpiredFiles == {s \in Seen : Proven(s) /\ s \notin Newest}
\* as would a log that is never cut.                                               \* CHECK LogCut
\* The log goes up to the oldest file that is kept: so each of them can be loaded. \* CHECK B55
\* Never without a file                                                            \* CHECK B68
\* and not up to the newest one, when a fall back to an older one is promised.     \* CHECK CutAtOldest
CutTo == IF Cardinality(Newest) < Reserved THEN 0 ELSE Min({s.idx : s \in Newest})
\* The boundary of the rest is the last entry that was cut, not another one.       \* CHECK BoundaryOfCut
TermOfCut(i) == log[i - begin + 1]

\* ---- Rules for loading ----

\* The checksum covers every byte, so that nothing else passes for a snapshot.     \* CHECK Crc
IsWhole(s) == s.data = "good"
\* First the term, then the index.                                                 \* CHECK TermFirst
IsOlder(s) == TermOfApplied > s.term \/ (TermOfApplied = s.term /\ applied > s.idx)
\* What the state machine has passed is not loaded again.                          \* CHECK Validity
Validity(s) == IF IsOlder(s) THEN "expired" ELSE IF IsWhole(s) THEN "loadable" ELSE "failed"
\* The log must go on where the snapshot ends.                                     \* CHECK B57
Continues(s) == begin <= s.idx + 1
\* The snapshot takes the place of what was there; it is not added to it.          \* CHECK B53
Loaded(old, new) == new
\* A load that fails leaves nothing behind: it fills a fresh object.               \* CHECK FreshObject
AfterFailedLoad(old) == old
\* What is in a snapshot was agreed on.                                            \* CHECK B58
CommitAfterLoad(i) == Max({commit, i})
\* The log behind the snapshot stays if it has the snapshot's last entry,          \* CHECK SuffixKept
\* and otherwise all of it goes.                                                   \* CHECK SuffixDropped
KeepsLog(s) == Has(s.idx, s.term)
\* The boundary is read again at a start.                                          \* CHECK B59
BoundaryAfterStart == bTerm
\* Without any snapshot the whole log must be there.                               \* CHECK RefuseGap
MayReplay == begin = 1

\* ---- Rules for installing ----

\* A leader sends its snapshot to who lacks what is before it.                     \* CHECK B54
MayInstall == TRUE
\* The node takes what is ahead of all that it knows.                              \* CHECK InstallFresh
IsFresh(i) == i > commit
\* After that it is ready for the next one.                                        \* CHECK B56
AfterInstall == NoJob

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action) == TRUE

\* ---- The group ----

Agree ==
  /\ agreed < Len(Terms)

  /\ agreed' = agreed + 1
  /\ UNCHANGED <<kept, logVars, snaps, memoryVars, historyVars>>

\* The leader has a snapshot of everything, and removes its log.
LeaderCompacts ==
  /\ Explored("LeaderCompacts")
  /\ kept < agreed + 1

  /\ kept' = agreed + 1
  /\ UNCHANGED <<agreed, logVars, snaps, memoryVars, historyVars>>

\* ---- The node follows ----

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

\* It learns that the group has agreed on what it has up to c.
Commit(c) ==
  /\ mode = "up"
  /\ c \in (commit + 1)..Len(Terms) /\ MayCommit(c)
  /\ Has(c, TermAt(c))

  /\ commit' = c
  /\ UNCHANGED <<groupVars, logVars, snaps, mode, sm, applied, lastSnap, job, historyVars>>

Apply ==
  /\ mode = "up"
  /\ applied < commit
  /\ applied + 1 \in begin..End

  /\ sm' = With(sm, applied + 1, log[applied + 1 - begin + 1])
  /\ applied' = applied + 1
  /\ UNCHANGED <<groupVars, logVars, snaps, mode, commit, lastSnap, job, historyVars>>

\* ---- Writing a snapshot ----

\* The file is written at the temporary place, in which nothing is left of before.
Write(kind, i, t, state, data) ==
  /\ job' = [kind |-> kind, idx |-> i]
  /\ snaps' = {s \in snaps : s.name # "tmp"} \cup
       {[idx |-> i, term |-> t, state |-> state, data |-> data, synced |-> FALSE, name |-> "tmp"]}

\* It is time for a snapshot of the own state; the disk may write something else.
Save(data) ==
  /\ Explored("Save")
  /\ mode = "up"
  /\ job = NoJob
  /\ applied - lastSnap >= Threshold
  /\ data = "bad" => Explored("WriteBad")

  /\ Write("save", SnapIndex, TermOfApplied, sm, data)
  /\ UNCHANGED <<groupVars, logVars, mode, stateVars, lastSnap, historyVars>>

\* The leader's snapshot arrives, late perhaps, in one message.
Install(data) ==
  /\ mode = "up"
  /\ job = NoJob
  /\ kept > 1 /\ MayInstall
  /\ IsFresh(kept - 1)
  /\ data = "bad" => Explored("WriteBad")

  /\ Write("install", kept - 1, TermAt(kept - 1), Fold(kept - 1), data)
  /\ UNCHANGED <<groupVars, logVars, mode, stateVars, lastSnap, historyVars>>

SyncTemporary ==
  /\ job # NoJob
  /\ ~Writing.synced

  /\ snaps' = Replaced(Writing, [Writing EXCEPT !.synced = TRUE])
  /\ UNCHANGED <<groupVars, logVars, memoryVars, historyVars>>

Rename ==
  /\ job # NoJob
  /\ Writing.name = "tmp" /\ MayRename(Writing)

  /\ snaps' = {IF s.idx = job.idx THEN [s EXCEPT !.name = IF @ = "tmp" THEN "new" ELSE "gone"] ELSE s
                 : s \in snaps}
  /\ UNCHANGED <<groupVars, logVars, memoryVars, historyVars>>

SyncDirectory ==
  /\ job # NoJob
  /\ Writing.name = "new"

  /\ snaps' = AfterDirectorySync
  /\ UNCHANGED <<groupVars, logVars, memoryVars, historyVars>>

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
             ELSE /\ lastSnap' = Max({lastSnap, job.idx})
                  /\ UNCHANGED <<logVars, stateVars>>
  /\ UNCHANGED <<groupVars, mode, historyVars>>

\* ---- Cleaning up ----

DeleteExpired ==
  /\ mode = "up"
  /\ ExpiredFiles # {}

  /\ snaps' = Removed(ExpiredFiles)
  /\ UNCHANGED <<groupVars, logVars, memoryVars, historyVars>>

\* The log is written anew without its beginning, and takes the place of the one before.
CutLog ==
  /\ mode = "up"
  /\ CutTo \in begin..End

  /\ log' = SubSeq(log, CutTo - begin + 2, Len(log))
  /\ bTerm' = TermOfCut(CutTo)
  /\ begin' = CutTo + 1
  /\ UNCHANGED <<groupVars, snaps, memoryVars, historyVars>>

\* ---- Power cuts, damage, and starts ----

\* Of what was not synchronized the contents are torn, and of the changes of names those of the files
\* `there` survive.  A file that was deleted and written again is there as one of the two, or `lost`.
Crash(there, lost) ==
  /\ Explored("Crash")
  /\ mode \in {"loading", "up"}
  /\ there \subseteq Unsure
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

Start ==
  /\ mode = "down"

  /\ mode' = "loading"
  /\ bTerm' = BoundaryAfterStart
  /\ UNCHANGED <<groupVars, begin, log, snaps, stateVars, lastSnap, job, historyVars>>

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
\* ---- Invariants ----

\* Else clients read what the entries do not say.
SnapExact ==
  /\ \A s \in snaps : s.data = "good" => s.state = Fold(s.idx)
  /\ mode \in {"loading", "up"} => sm = Fold(applied)

\* Else a node keeps, or gives to others, what the group may never agree on.
SnapCommitted == \A s \in snaps : s.idx <= agreed /\ s.term = TermAt(s.idx)

\* A node bears what the disk does to fewer files than it keeps; to none, if its leader has removed
\* a log: an install leaves one file.  One that was never whole counts for as long as it is there.
DiskFault ==
  IF kept > 1 THEN damaged > 0
  ELSE damaged + Cardinality({s \in snaps : s.data = "bad"}) >= Reserved
\* Files that can stand for the beginning of the log; what the disk took later is its own fault.
Stands(s) == s.data # "bad" /\ s.idx >= begin - 1
\* Else nothing can be read for the entries that are gone,
PrefixCovered == begin > 1 => DiskFault \/ \E s \in Seen : Stands(s)
\* at the next power cut at the latest.
SnapAtomic == begin > 1 => DiskFault \/ \E s \in snaps : s.name = "kept" /\ s.synced /\ Stands(s)

\* Else a node stops for ever although its disk has done all that it was told.
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
Init ==
  /\ agreed = 0 /\ kept = 1
  /\ begin = 1 /\ log = <<>> /\ bTerm = 0 /\ snaps = {}
  /\ mode = "up" /\ sm = {} /\ applied = 0 /\ commit = 0 /\ lastSnap = 0 /\ job = NoJob
  /\ crashes = 0 /\ damaged = 0

Next ==
  \/ Agree
  \/ LeaderCompacts
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
         /\ Cardinality(Seen) = Reserved => Min({s.idx : s \in Seen}) < begin)

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ SnapExact /\ SnapAtomic /\ PrefixCovered /\ LoadContiguous)
=============================================================================

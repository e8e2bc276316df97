-------------------------- MODULE MCSnapshotLoading --------------------------
(* Finite models of SnapshotLoading: the history, and what they explore. *)
EXTENDS SnapshotLoadingProperties

CONSTANTS
  MaxLog,           \* last index at which a leader that does not last writes; 0: there is none
  MaxCrashes,       \* power cuts
  MaxDamaged,       \* files that the disk damages later
  MaxBad,           \* files that it never had as they were written, at a time
  MaxCompacts       \* how far the leader may go with the removal of its log

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..(Max(Len(Terms), MaxLog) + 1)

TwoTerms == <<1, 3>>
ThreeTerms == <<1, 3, 3>>
FourTerms == <<1, 1, 3, 3>>
FiveTerms == <<1, 1, 3, 3, 3>>

Bounded(action) ==
  CASE action = "AppendStray" -> End < MaxLog
    [] action = "Crash" -> crashes < MaxCrashes
    [] action = "Rot" -> damaged < MaxDamaged
    [] action = "WriteBad" -> Cardinality({s \in snaps : s.data = "bad"}) < MaxBad
    [] action = "LeaderCompacts" -> agreed <= MaxCompacts
    [] OTHER -> TRUE
=============================================================================

---------------------------- MODULE MCReplicaGroup ----------------------------
(* Finite models of ReplicaGroup: what they explore, and their symmetry. *)
EXTENDS ReplicaGroupProperties, TLC

CONSTANTS
  MaxEpoch,      \* elections
  MaxLog,        \* records in a log
  MaxAlter,      \* proposals in all
  MaxCrash       \* crashes in all

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..(MaxEpoch + MaxLog + MaxAlter + MaxCrash)

Crashes == Cardinality({x \in Broker \X (1..MaxCrash) : x[2] <= inc[x[1]]})

Bounded(action, b) ==
  CASE action \in {"ElectMaster", "DesignateMaster"} -> ctl.epoch < MaxEpoch
    [] action = "PutMessage" -> Len(log[b]) < MaxLog
    [] action = "Crash" -> Crashes < MaxCrash
    [] action \in {"MaybeShrink", "MaybeExpand"} -> Cardinality(alters) < MaxAlter
    [] action = "CleanBrokerData" ->
         EnableElectUncleanMaster \/ (acked = <<>> /\ seen = <<>>)
    [] action = "HearAgain" -> FALSE
    [] OTHER -> TRUE

\* Fewer: who leaves a connection is gone or learns of another master, and an epoch comes with its
\* first record.  Half-open connections are left by those who go.
Few(action, b) ==
  Bounded(action, b) /\ action \notin {"Disconnect", "CloseConnection", "HearEpoch"}

\* Elections and late heartbeats alone; MaxAlter is what more the numbers of sets need.
Late(action, b) ==
  action = "HearAgain" \/ (Few(action, b) /\ action \notin {"MaybeShrink", "MaybeExpand"})

\* For liveness: what ends an election is not bounded; operators and crashes are.
Steady(action, b) == action = "ElectMaster" \/ Few(action, b)

Symmetry == Permutations(Broker)
=============================================================================

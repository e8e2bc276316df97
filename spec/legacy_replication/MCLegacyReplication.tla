------------------------- MODULE MCLegacyReplication -------------------------
(* Finite models of LegacyReplication: what they explore, and their symmetry. *)
EXTENDS LegacyReplicationProperties, TLC

CONSTANTS
  MaxLog,           \* records in the master's log
  MasterCrashes,    \* power cuts of the master
  SlaveCrashes,     \* power cuts of all slaves
  MaxStale,         \* connections that a slave has given up and the master has not
  MaxInFlight       \* batches on a connection

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..MaxOf({MaxLog, MaxStale, MasterCrashes})

CrashesOfSlaves == Cardinality({x \in Slave \X (1..SlaveCrashes) : x[2] <= inc[x[1]]})
MayCrash(b) ==
  IF b = Master THEN inc[b] < MasterCrashes
  ELSE CrashesOfSlaves < SlaveCrashes /\ (Served(b) => Len(stale[b]) < MaxStale)

Bounded(action, b) ==
  CASE action = "PutMessage" -> Len(log[b]) < MaxLog
    [] action = "Crash" -> MayCrash(b)
    [] action \in {"Transfer", "Heartbeat"} -> link[b].held => Len(link[b].down) < MaxInFlight
    [] action = "Disconnect" -> Served(b) => Len(stale[b]) < MaxStale
    [] OTHER -> TRUE

\* A power cut may keep the whole log anyway, so that a flush leads nowhere new; nor does a heartbeat.
Useful(action, b) == action \notin {"Flush", "Heartbeat"} /\ Bounded(action, b)

\* For liveness: nobody closes a connection that works.
Steady(action, b) ==
  /\ Bounded(action, b)
  /\ CASE action = "Disconnect" -> Useless(b)
       [] action = "CloseConnection" -> FALSE
       [] action = "Flush" -> FALSE
       [] OTHER -> TRUE

\* A cure that the code does not have: the master sends only what its disk keeps.
FlushedOnly == flushed[Master]

Symmetry == Permutations(Slave)
=============================================================================

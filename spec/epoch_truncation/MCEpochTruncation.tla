-------------------------- MODULE MCEpochTruncation --------------------------
(* Finite models of EpochTruncation: what they explore, and their symmetry. *)
EXTENDS EpochTruncationProperties, TLC

CONSTANTS
  MaxEpoch,      \* elections
  MaxLog,        \* records in a log
  MaxCrash,      \* power cuts in all
  MaxInFlight    \* packets on a connection

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..MaxOf({MaxEpoch, MaxLog, MaxCrash})

Crashes == Cardinality({x \in Broker \X (1..MaxCrash) : x[2] <= inc[x[1]]})

Bounded(action, b) ==
  CASE action = "ElectMaster" -> ctl.epoch < MaxEpoch
    [] action = "ElectNobody" -> ctl.epoch < MaxEpoch /\ ctl.master # None
    [] action = "PutMessage" -> Len(log[b]) < MaxLog
    [] action = "Crash" -> Crashes < MaxCrash
    [] action \in {"LoseLog", "LoseStore"} -> FALSE    \* see Lossy
    [] action = "Transfer" -> link[b] # NoLink => Len(link[b].down) < MaxInFlight
    [] OTHER -> TRUE

\* The full model trades interleavings, which the other models have, for depth.
\* An exchange of messages that has begun goes on, or breaks off, before anything else happens.
Busy(s) == link[s] # NoLink /\ (link[s].down # <<>> \/ link[s].ack # link[s].reported)
Idle == \A s \in Broker : ~Busy(s)
Coarse(action, b) ==
  /\ Bounded(action, b)
  /\ CASE action = "Flush" -> FALSE        \* a power cut may keep the whole log anyway
       [] action = "ElectNobody" -> FALSE  \* an epoch that nobody has is left to the other models
       [] action = "Restart" -> TRUE
       [] action = "BecomeSlave" -> Idle /\ role[b] = "Master"    \* slaves learn from handshakes
       [] action = "LearnEpoch" -> FALSE                          \* and from batches
       [] action = "Disconnect" -> Idle \/ Busy(b)
       [] OTHER -> Idle /\ (acted > 0 \/ ctl.epoch = 0)    \* the elected acts at once

\* For liveness: a slave closes no connection that works.
Steady(action, b) ==
  Bounded(action, b) /\ (action = "Disconnect" => Useless(b))

\* A broker that is down loses flushed records, or its whole store, but no master that is still
\* elected: a restart forgets epochs beyond the log, so it would begin the same one again (LossyMaster).
Lossy(action, b) ==
  IF action \in {"LoseLog", "LoseStore"} THEN ctl.master # b \/ LastEpoch(epochs[b]) < ctl.epoch
  ELSE Bounded(action, b)
LossyMaster(action, b) == action = "LoseLog" \/ Bounded(action, b)

Symmetry == Permutations(Broker)
=============================================================================

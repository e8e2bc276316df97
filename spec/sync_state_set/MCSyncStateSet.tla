---------------------------- MODULE MCSyncStateSet ----------------------------
(* Finite models of SyncStateSet: what they explore, and their symmetry. *)
EXTENDS SyncStateSetProperties, TLC

CONSTANTS
  MaxLog,        \* records in the log
  MaxSssE,       \* SyncStateSet epochs
  MaxCrash       \* crashes in all

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..9

Crashes ==
  Cardinality({x \in Broker \X (1..MaxCrash) : x[2] <= inc[x[1]] + (IF up[x[1]] THEN 0 ELSE 1)})

\* How it begins: everybody runs, and only the master has the records of before.
AtZero == {0}
AtOne == {1}
Empty(s) == up[s] /\ end[s] = 0 /\ conn[s] = NoConn
\* Every return counts as one with a loss.
Counted(b) == {inc[b] + 1}
\* A request is refused only if a replica that would join is dead or has restarted.
JoinerGone(r, amiss) == amiss /\ \E m \in Joiners(r) : ~(up[m[1]] /\ IsPresent(m))

Bounded(action, b) ==
  CASE action = "PutMessage" -> end[Master] < MaxLog
    [] action \in {"Expand", "Shrink"} -> ctl.sssE < MaxSssE /\ sssE < MaxSssE
    [] action \in {"Crash", "CrashMaster"} -> Crashes < MaxCrash /\ IsCurrent
    [] action = "Disconnect" -> IsCurrent
    [] action \in {"Connect", "Copy"} -> ctl.master # b
    [] action = "CopyElsewhere" -> FALSE
    [] OTHER -> TRUE

\* Fewer crashes: only of a slave whose place in the set matters, and all of its log is lost.
Few(action, b) ==
  /\ Bounded(action, b)
  /\ CASE action = "Crash" -> b \in Names(Required) /\ end[b] > 0
       [] action = "Disconnect" -> b \in Names(local) \/ Dead(b)
       [] action = "CrashMaster" -> pend # {}
       [] action = "Elect" -> up[b]
       [] action \in {"PutMessage", "Restart"} -> IsCurrent
       [] OTHER -> TRUE
LosesAll(n) == {0}

\* Slaves may not hear of the election at once.
Early(action, b) == action = "CopyElsewhere" \/ Bounded(action, b)

\* Proposals only, three in all: connections last, no election, nobody reads.
Calm(action, b) ==
  /\ Bounded(action, b)
  /\ action \notin {"Disconnect", "Elect", "Consume"}
  /\ action \in {"Expand", "Shrink"} => Cardinality(alters \cup queue) < 3

\* For liveness: the master stays, connections that work are kept, and only what is lost is taken out.
Steady(action, b) ==
  /\ Bounded(action, b)
  /\ CASE action = "Disconnect" -> Dead(b)
       [] action = "Shrink" -> b \in Lost
       [] action = "Expand" -> ~Dead(b)
       [] action \in {"CrashMaster", "Elect", "Consume"} -> FALSE
       [] OTHER -> TRUE
\* The bound on epochs is never what stops the master.
FarFromBound == ctl.sssE < MaxSssE

Symmetry == Permutations(Slave)
=============================================================================

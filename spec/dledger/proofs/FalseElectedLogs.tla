--------------------------- MODULE FalseElectedLogs ---------------------------
(* The inductive invariant, and operators for the place of right ones, as mutants of DLedger have
   them.  With one of those, some step does not keep it: from a state that is given here, for z3
   finds none by itself where logs are of any size.                                              *)
EXTENDS InductiveElectedLogs

ShorterLogUpToDate(m, c) == TRUE
\* What is not synchronized is acknowledged, and counts.
SyncedAckAckLimit(m) == End(m)
OwnSyncOwnIndex(n) == End(n)
CommitQuorumIsHeld(n, i) == Holders(n, i) # {}
CommitOwnTermMayCommit(n, i) == TRUE
LateTruncateMayCut(m, i) == TRUE
ComparedFirstMayAppend(m) == TRUE
\* Who has thrown its log away votes like anybody else.
RefilledMayVote(m) == TRUE

\* ---- States in which all holds that is right, and from which a bug breaks it ----

\* All but `Other` have what is committed, and all are in the next term.
Committed ==
  /\ term = All(2) /\ refill = All(0) /\ accepts = All(Nobody) /\ elected = <<One, None>>
  /\ log = [n \in Node |-> IF n = Other THEN <<>> ELSE <<1>>]
  /\ synced = [n \in Node |-> IF n = Other THEN 0 ELSE 1]
  /\ led = <<<<1>>, <<>>>> /\ commit = <<1, 0>>
  /\ acked = [n \in Node |-> IF n = Other THEN <<0, 0>> ELSE <<1, 0>>]
\* All but `Other` have acknowledged what is committed, and all but `One` have thrown their logs away.
Discarded ==
  /\ term = All(2) /\ accepts = All(Nobody) /\ elected = <<One, None>>
  /\ log = OnlyOne(<<1>>, <<>>) /\ synced = OnlyOne(1, 0) /\ refill = OnlyOne(0, 2)
  /\ led = <<<<1>>, <<>>>> /\ commit = <<1, 0>>
  /\ acked = [n \in Node |-> IF n = Other THEN <<0, 0>> ELSE <<1, 0>>]
\* All have the entry of `One`, and nobody has synchronized it.
Unsynced ==
  /\ term = All(1) /\ log = All(<<1>>) /\ synced = All(0)
  /\ refill = All(0) /\ accepts = All(Nobody) /\ elected = <<One>> /\ led = <<<<1>>>> /\ commit = <<0>>
  /\ acked = All(<<0>>)
\* All others have synchronized and acknowledged it.
OwnUnsynced ==
  /\ term = All(1) /\ log = All(<<1>>) /\ synced = OnlyOne(0, 1)
  /\ refill = All(0) /\ accepts = All(Nobody) /\ elected = <<One>> /\ led = <<<<1>>>> /\ commit = <<0>>
  /\ acked = OnlyOne(<<0>>, <<1>>)
\* `Other` leads, with an entry of the term before that all have acknowledged.
Earlier ==
  /\ term = All(2) /\ log = All(<<1>>) /\ synced = All(1)
  /\ refill = All(0) /\ accepts = All(Nobody) /\ elected = <<One, Other>> /\ led = <<<<1>>, <<1>>>>
  /\ commit = <<0, 0>> /\ acked = All(<<0, 1>>)
\* `Other` leads with two entries, and `One` has another first one.
Diverged ==
  /\ term = All(2) /\ log = OnlyOne(<<1>>, <<2, 2>>) /\ synced = All(0)
  /\ refill = All(0) /\ accepts = All(Nobody) /\ elected = <<One, Other>> /\ led = <<<<1>>, <<2, 2>>>>
  /\ commit = <<0, 0>> /\ acked = All(<<0, 0>>)
=============================================================================

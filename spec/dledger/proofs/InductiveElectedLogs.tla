------------------------ MODULE InductiveElectedLogs ------------------------
(* LeaderCompleteness of the logs of leaders, and what must be added so that each step keeps all of
   it, from every state in which it holds, reachable or not: an inductive invariant.  z3 proves that
   for any terms and logs of any length (rocketproof prove LeaderCompleteness).

   The reason is that of the Raft paper, 5.4.3, without its induction over leaders: an entry is
   choosable as long as a majority has acknowledged it or may still do so, and every later leader
   has what is choosable.                                                                         *)
EXTENDS ElectedLogs

Terms == 1..Top
IsLed(t) == elected[t] # None

\* ---- The claim ----

\* What the leader of a term has committed is in the log of each later one.
LeaderCompleteness ==
  \A t, u \in Terms : t <= u /\ IsLed(u) =>
    commit[t] <= Len(led[u]) /\ Agree(led[t], led[u], commit[t])

\* ---- What is needed besides ----

Numbers ==
  /\ Top >= 1 /\ Len(elected) = Top /\ Len(commit) = Top
  /\ \A n \in Node : /\ Len(acked[n]) = Top /\ term[n] \in Terms
                     /\ synced[n] >= 0 /\ synced[n] <= End(n)
                     /\ refill[n] >= 0 /\ refill[n] <= term[n]
  /\ \A t \in Terms : /\ commit[t] >= 0 /\ commit[t] <= Len(led[t]) /\ Len(led[t]) >= 0
                      /\ ~IsLed(t) => Len(led[t]) = 0

\* Terms do not fall from entry to entry, and are those of leaders that have the entry,
\* and all before it.
LedIsLed ==
  \A t \in Terms : \A i \in 1..Len(led[t]) :
    /\ led[t][i] \in 1..t /\ IsLed(led[t][i])
    /\ i <= Len(led[led[t][i]])
LedAgrees ==
  \A t \in Terms : \A i \in 1..Len(led[t]) : Agree(led[led[t][i]], led[t], i)
LedRises ==
  \A t \in Terms : \A i \in 1..Len(led[t]) : \A j \in 1..i : led[t][j] <= led[t][i]

LogIsLed ==
  \A n \in Node : \A i \in 1..End(n) :
    /\ log[n][i] \in 1..term[n] /\ IsLed(log[n][i])
    /\ i <= Len(led[log[n][i]])
LogAgrees ==
  \A n \in Node : \A i \in 1..End(n) : Agree(led[log[n][i]], log[n], i)
LogRises ==
  \A n \in Node : \A i \in 1..End(n) : \A j \in 1..i : log[n][j] <= log[n][i]

\* Nobody acknowledges what is of a term that it is not in yet.
AckedLed ==
  \A m \in Node : \A t \in Terms :
    /\ acked[m][t] >= 0 /\ acked[m][t] <= Len(led[t])
    /\ acked[m][t] > 0 => t <= term[m]

\* A majority is in the term of a leader, or in a later one.
LedQuorum == \A t \in Terms : IsLed(t) => Quorum({m \in Node : term[m] >= t})

\* A majority has acknowledged an entry, or may still do so.
Choosable(t, i) == Quorum({m \in Node : acked[m][t] >= i \/ term[m] <= t})
\* The leader of a term wrote it in that term.
Own(t, i) == led[t][i] = t

\* Who has acknowledged what may be committed has it on its disk,
AckedKept ==
  \A m \in Node : \A t \in Terms : \A i \in 1..Len(led[t]) :
    t >= refill[m] /\ i <= acked[m][t] /\ Own(t, i) /\ Choosable(t, i) =>
      i <= synced[m] /\ Agree(led[t], log[m], i)
\* or has thrown it away since, and has it again with an entry of a later term.
AckedRefilled ==
  \A m \in Node : EndTerm(m) >= refill[m] => \A t \in Terms : \A i \in 1..Len(led[t]) :
    t < refill[m] /\ i <= acked[m][t] /\ Own(t, i) /\ Choosable(t, i) =>
      i <= End(m) /\ Agree(led[t], log[m], i)

\* Whom it accepts has at least that.
AcceptsCompared ==
  \A c, m \in Node : accepts[c][m] =>
    /\ term[m] >= term[c]
    /\ \A t \in Terms : \A i \in 1..Len(led[t]) :
         t < term[c] /\ i <= acked[m][t] /\ Own(t, i) /\ Choosable(t, i) =>
           EndTerm(c) > t \/ (EndTerm(c) = t /\ End(c) >= i)

\* Every later leader has what may be committed.
LaterHas ==
  \A t, u \in Terms : t < u /\ IsLed(u) =>
    \A i \in 1..Len(led[t]) : Own(t, i) /\ Choosable(t, i) =>
      i <= Len(led[u]) /\ Agree(led[t], led[u], i)

\* A majority has acknowledged what is committed.
CommitHeld ==
  \A t \in Terms : commit[t] > 0 =>
    Own(t, commit[t]) /\ Quorum({m \in Node : acked[m][t] >= commit[t]})

\* ---- States in which all of it holds: of those, examples of steps are ----

All(x) == [n \in Node |-> x]
One == CHOOSE n \in Node : TRUE
Other == CHOOSE n \in Node : n # One
OnlyOne(x, y) == [n \in Node |-> IF n = One THEN x ELSE y]

\* `One` leads, and others have nothing.
Leading ==
  /\ term = All(1) /\ log = OnlyOne(<<1>>, <<>>) /\ synced = OnlyOne(1, 0)
  /\ refill = All(0) /\ accepts = All(Nobody) /\ elected = <<One>> /\ led = <<<<1>>>> /\ commit = <<0>>
  /\ acked = All(<<0>>)
\* All have its entry, and all but `Other` have acknowledged it.
Holding ==
  /\ term = All(1) /\ log = All(<<1>>) /\ synced = All(1)
  /\ refill = All(0) /\ accepts = All(Nobody) /\ elected = <<One>> /\ led = <<<<1>>>> /\ commit = <<0>>
  /\ acked = [n \in Node |-> IF n \in {One, Other} THEN <<0>> ELSE <<1>>]
\* `Other` leads, and has not what `One` led with in the term before.
Replaced ==
  /\ term = All(2) /\ log = OnlyOne(<<1>>, <<>>) /\ synced = All(0)
  /\ refill = All(0) /\ accepts = All(Nobody)
  /\ elected = <<One, Other>> /\ led = <<<<1>>, <<>>>>
  /\ commit = <<0, 0>> /\ acked = All(<<0, 0>>)
\* All but `One` accept `Other`, which lacks what `One` led with in the term before.
Electing ==
  /\ term = OnlyOne(1, 2) /\ log = OnlyOne(<<1>>, <<>>) /\ synced = All(0)
  /\ refill = All(0) /\ accepts = [n \in Node |-> IF n = Other THEN OnlyOne(FALSE, TRUE) ELSE Nobody]
  /\ elected = <<One, None>> /\ led = <<<<1>>, <<>>>>
  /\ commit = <<0, 0>> /\ acked = All(<<0, 0>>)
=============================================================================

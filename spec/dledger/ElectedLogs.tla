----------------------------- MODULE ElectedLogs -----------------------------
(* What DLedger does to logs, as far as leaders must have what was committed: an abstraction for a
   proof.  TLC checks in small models that DLedger refines it (MCElectedLogs).

   Modelled: terms; what a round accepts; the log of the leader of each term; logs that lose what is
   not synchronized, are cut, appended to or replaced, or are damaged and thrown away;
   acknowledgements; commits of an own entry.
   An entry is its term.
   Not modelled: votes, that is why a term has one leader (InductiveElections); messages: a follower
   does what the leader of its term could have told it at any time; who knows what is committed.

   Conventions: as in DLedger.  A term that a node is or was in has a place in `elected`, `led`,
   `commit` and `acked`.
   Source: DLedger; the Raft paper, section 5.4.                                                  *)
EXTENDS Integers, FiniteSets, Prefixes

CONSTANTS
  Node,        \* the members of the group
  None         \* stands for "no node"

VARIABLES
  term,        \* node -> the term that it is in
  log,         \* node -> the terms of its entries
  synced,      \* node -> how many of them survive any power cut
  refill,      \* node -> of which term or a later one its last entry is before it votes; 0: of any
  accepts,     \* node -> member -> whether it accepts this node in its present round
  elected,     \* term -> who was elected in it, or None
  led,         \* term -> the log of that leader, as it last was in that term
  commit,      \* term -> the last index that this leader committed, or 0
  acked        \* node -> term -> the largest index that it has acknowledged in that term

vars == <<term, log, synced, refill, accepts, elected, led, commit, acked>>

-----------------------------------------------------------------------------
Quorum(S) == 2 * Cardinality(S) > Cardinality(Node)
End(n) == Len(log[n])
EndTerm(n) == IF End(n) = 0 THEN 0 ELSE log[n][End(n)]
Top == Len(led)
\* Two logs have the same first n entries.
Agree(p, q, n) == \A j \in 1..n : p[j] = q[j]
IsSame(p, q) == Len(p) = Len(q) /\ Agree(p, q, Len(p))
Nobody == [m \in Node |-> FALSE]

Init ==
  /\ term = [n \in Node |-> 1] /\ log = [n \in Node |-> <<>>] /\ synced = [n \in Node |-> 0]
  /\ refill = [n \in Node |-> 0]
  /\ accepts = [n \in Node |-> Nobody]
  /\ elected = <<None>> /\ led = <<<<>>>> /\ commit = <<0>> /\ acked = [n \in Node |-> <<0>>]

\* ---- Elections ----

\* n goes to a term in which somebody else is,
IncreaseTerm(n) ==
  /\ \E t \in (term[n] + 1)..Top : term' = [term EXCEPT ![n] = t]
  /\ accepts' = [accepts EXCEPT ![n] = Nobody]
  /\ UNCHANGED <<log, synced, refill, elected, led, commit, acked>>

\* or to one in which nobody is.
TermBegins ==
  /\ elected' = Append(elected, None) /\ led' = Append(led, <<>>) /\ commit' = Append(commit, 0)
  /\ acked' = [m \in Node |-> Append(acked[m], 0)]

BeginTerm(n) ==
  /\ term' = [term EXCEPT ![n] = Top + 1]
  /\ accepts' = [accepts EXCEPT ![n] = Nobody]
  /\ TermBegins
  /\ UNCHANGED <<log, synced, refill>>

\* A log that lacks what the voter has must not win.
UpToDate(m, c) == EndTerm(c) > EndTerm(m) \/ (EndTerm(c) = EndTerm(m) /\ End(c) >= End(m))

\* Who has thrown its log away does not know what it has acknowledged, until it has an entry of a leader
\* of a later term: that one has it.
MayVote(m) == EndTerm(m) >= refill[m]

\* m accepts c.
HandleVote(m, c) ==
  /\ term[m] = term[c] /\ UpToDate(m, c) /\ MayVote(m)

  /\ accepts' = [accepts EXCEPT ![c][m] = TRUE]
  /\ UNCHANGED <<term, log, synced, refill, elected, led, commit, acked>>

\* m refuses c, which it has accepted before.
RefuseVote(m, c) ==
  /\ accepts' = [accepts EXCEPT ![c][m] = FALSE]
  /\ UNCHANGED <<term, log, synced, refill, elected, led, commit, acked>>

\* The round of c is over, and it does not lead.
EndRound(c) ==
  /\ accepts' = [accepts EXCEPT ![c] = Nobody]
  /\ UNCHANGED <<term, log, synced, refill, elected, led, commit, acked>>

\* It leads: nobody else was elected in its term, nor this node with another log.
BecomeLeader(c) ==
  /\ Quorum({m \in Node : accepts[c][m]})
  /\ elected[term[c]] = None

  /\ elected' = [elected EXCEPT ![term[c]] = c] /\ led' = [led EXCEPT ![term[c]] = log[c]]
  /\ accepts' = [accepts EXCEPT ![c] = Nobody]
  /\ UNCHANGED <<term, log, synced, refill, commit, acked>>

\* ---- Leaders ----

\* It has lost nothing since it was elected.
Leads(n) == elected[term[n]] = n /\ IsSame(log[n], led[term[n]])

\* The entry may be synchronized along with it.
AppendAsLeader(n) ==
  /\ Leads(n)

  /\ log' = [log EXCEPT ![n] = Append(@, term[n])]
  /\ led' = [led EXCEPT ![term[n]] = Append(@, term[n])]
  /\ \E s \in {synced[n], End(n) + 1} : synced' = [synced EXCEPT ![n] = s]
  /\ accepts' = [accepts EXCEPT ![n] = Nobody]
  /\ UNCHANGED <<term, refill, elected, commit, acked>>

\* Only what is synchronized counts, for itself and for its followers (Acknowledge).
OwnIndex(n) == synced[n]
Holders(n, i) == {m \in Node : IF m = n THEN OwnIndex(n) >= i ELSE acked[m][term[n]] >= i}
IsHeld(n, i) == Quorum(Holders(n, i))
MayCommit(n, i) == log[n][i] = term[n]

\* What it counts of its own stands beside what others have acknowledged.
CommitEntry(n) ==
  /\ Leads(n)
  /\ \E i \in (commit[term[n]] + 1)..End(n) :
       /\ IsHeld(n, i) /\ MayCommit(n, i)

       /\ commit' = [commit EXCEPT ![term[n]] = i]
       /\ acked' = [acked EXCEPT ![n][term[n]] = IF OwnIndex(n) >= i THEN Max(@, i) ELSE @]
  /\ UNCHANGED <<term, log, synced, refill, accepts, elected, led>>

\* ---- Followers ----

Follows(m) == elected[term[m]] \notin {None, m}

\* The leader has another entry there, or will write one of its term.
MayCut(m, i) ==
  LET q == led[term[m]] IN IF i <= Len(q) THEN log[m][i] # q[i] ELSE log[m][i] # term[m]

Truncate(m) ==
  /\ Follows(m)
  /\ \E i \in 1..End(m) :
       /\ MayCut(m, i)

       /\ log' = [log EXCEPT ![m] = Prefix(@, i - 1)]
       /\ synced' = [synced EXCEPT ![m] = Min(@, i - 1)]
  /\ accepts' = [accepts EXCEPT ![m] = Nobody]
  /\ UNCHANGED <<term, refill, elected, led, commit, acked>>

\* What m has is the leader's.
MayAppend(m) == Agree(log[m], led[term[m]], End(m))

AppendAsFollower(m) ==
  /\ Follows(m)
  /\ End(m) < Len(led[term[m]]) /\ MayAppend(m)

  /\ log' = [log EXCEPT ![m] = Append(@, led[term[m]][End(m) + 1])]
  /\ \E s \in {synced[m], End(m) + 1} : synced' = [synced EXCEPT ![m] = s]
  /\ accepts' = [accepts EXCEPT ![m] = Nobody]
  /\ UNCHANGED <<term, refill, elected, led, commit, acked>>

\* m loads a snapshot of the leader in place of a log that lacks its last entry.
InstallSnapshot(m) ==
  /\ Follows(m)
  /\ \E i \in 1..Len(led[term[m]]) :
       /\ i <= End(m) => log[m][i] # led[term[m]][i]

       /\ log' = [log EXCEPT ![m] = Prefix(led[term[m]], i)]
       /\ synced' = [synced EXCEPT ![m] = i]
  /\ accepts' = [accepts EXCEPT ![m] = Nobody]
  /\ UNCHANGED <<term, refill, elected, led, commit, acked>>

\* What a follower acknowledges survives a power cut.
AckLimit(m) == synced[m]

Acknowledge(m) ==
  /\ Follows(m)
  /\ \E i \in (acked[m][term[m]] + 1)..Min(AckLimit(m), Len(led[term[m]])) :
       /\ Agree(log[m], led[term[m]], i)

       /\ acked' = [acked EXCEPT ![m][term[m]] = i]
  /\ UNCHANGED <<term, log, synced, refill, accepts, elected, led, commit>>

\* ---- Disks ----

\* m synchronizes all, or what comes is synchronized along with it.
Sync(m) ==
  /\ \E i \in (synced[m] + 1)..End(m) : synced' = [synced EXCEPT ![m] = i]
  /\ UNCHANGED <<term, log, refill, accepts, elected, led, commit, acked>>

Crash(n) ==
  /\ \E k \in synced[n]..End(n) :
       /\ log' = [log EXCEPT ![n] = Prefix(@, k)]
       /\ synced' = [synced EXCEPT ![n] = k]
  /\ accepts' = [accepts EXCEPT ![n] = Nobody]
  /\ UNCHANGED <<term, refill, elected, led, commit, acked>>

\* A log that is damaged is thrown away, or all of it but a beginning; its node goes to another term.
Discard(n, t) ==
  /\ \E k \in 0..End(n) :
       /\ log' = [log EXCEPT ![n] = Prefix(@, k)]
       /\ synced' = [synced EXCEPT ![n] = k]
  /\ term' = [term EXCEPT ![n] = t] /\ refill' = [refill EXCEPT ![n] = t]
  /\ accepts' = [accepts EXCEPT ![n] = Nobody]

DiscardLog(n) ==
  /\ \E t \in (term[n] + 1)..Top : Discard(n, t)
  /\ UNCHANGED <<elected, led, commit, acked>>

DiscardInNewTerm(n) == Discard(n, Top + 1) /\ TermBegins

-----------------------------------------------------------------------------
Next ==
  \/ \E n \in Node :
       \/ IncreaseTerm(n) \/ BeginTerm(n) \/ EndRound(n) \/ BecomeLeader(n)
       \/ AppendAsLeader(n) \/ CommitEntry(n)
       \/ Truncate(n) \/ AppendAsFollower(n) \/ InstallSnapshot(n) \/ Acknowledge(n)
       \/ Sync(n) \/ Crash(n) \/ DiscardLog(n) \/ DiscardInNewTerm(n)
  \/ \E m, c \in Node : HandleVote(m, c) \/ RefuseVote(m, c)

Spec == Init /\ [][Next]_vars
=============================================================================

------------------------------ MODULE LogLeaders ------------------------------
(* What a service sees of the group that keeps its log: leaders come and go, and the log of each has
   all that was agreed on before it.

   A leader takes entries, commits them while no newer leader is there, and may not know that it was
   replaced.  Other members follow what is committed.

   Modelled: leaders that were replaced; what of their entries the next one has, which is any part; a
   new leader that does not know yet how much of its log is committed; state machines that are behind.
   Not modelled: votes and messages (DLedger), snapshots (SnapshotLoading), what the entries say: who
   extends this module has a kind of entry for it.

   Conventions: an entry has a field `term`; terms count from 1.
   Source: none in the code; the Raft paper, sections 5.4 and 8.                                  *)
EXTENDS Integers, FiniteSets, Prefixes

CONSTANTS Node       \* the members of the group

ASSUME NodeAssumption == IsFiniteSet(Node) /\ Node # {}

VARIABLES
  agreed,      \* the entries on which the group has agreed
  newest,      \* the term of its newest leader
  term,        \* node -> the term in which it leads, as far as it knows; 0: it does not
  log,         \* node -> its entries: those of a leader, or what it knows to be committed
  commit,      \* node -> how many of them it knows to be committed
  applied      \* node -> how many are in its state machine

vars == <<agreed, newest, term, log, commit, applied>>

-----------------------------------------------------------------------------
Init ==
  /\ agreed = <<>> /\ newest = 0
  /\ term = [n \in Node |-> 0] /\ log = [n \in Node |-> <<>>]
  /\ commit = [n \in Node |-> 0] /\ applied = [n \in Node |-> 0]

Leads(n) == term[n] > 0
IsNewest(n) == Leads(n) /\ term[n] = newest

\* n is elected with the log of m, or with what was agreed on; it writes a no-op of its term first.
ElectWith(n, m, noop) ==
  /\ IsPrefix(agreed, log[m]) \/ m = n

  /\ newest' = newest + 1 /\ term' = [term EXCEPT ![n] = newest + 1]
  /\ log' = [log EXCEPT ![n] = Append(IF IsPrefix(agreed, log[m]) THEN log[m] ELSE agreed, noop)]
  /\ UNCHANGED <<agreed, commit, applied>>

\* A leader hears that it was replaced.
LeaveOffice(n) ==
  /\ Leads(n) /\ ~IsNewest(n)

  /\ term' = [term EXCEPT ![n] = 0]
  /\ log' = [log EXCEPT ![n] = Prefix(@, commit[n])]
  /\ UNCHANGED <<agreed, newest, commit, applied>>

\* A leader takes an entry.
AppendBy(n, entry) ==
  /\ Leads(n)

  /\ log' = [log EXCEPT ![n] = Append(@, entry)]
  /\ UNCHANGED <<agreed, newest, term, commit, applied>>

\* The newest leader commits entries, of which the last is of its term; no other one can.
CommitBy(n) ==
  /\ IsNewest(n)
  /\ \E i \in (commit[n] + 1)..Len(log[n]) :
       /\ log[n][i].term = term[n]

       /\ commit' = [commit EXCEPT ![n] = i]
       /\ agreed' = Longer(agreed, Prefix(log[n], i))
  /\ UNCHANGED <<newest, term, log, applied>>

\* A member that does not lead hears what is committed.
FollowAgreed(n) ==
  /\ ~Leads(n)
  /\ \E i \in (commit[n] + 1)..Len(agreed) :
       /\ log' = [log EXCEPT ![n] = Prefix(agreed, i)]
       /\ commit' = [commit EXCEPT ![n] = i]
  /\ UNCHANGED <<agreed, newest, term, applied>>

\* The next committed entry changes the state of n.
ApplyNext(n) ==
  /\ applied[n] < commit[n]

  /\ applied' = [applied EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<agreed, newest, term, log, commit>>

Next ==
  \/ \E n \in Node : LeaveOffice(n) \/ CommitBy(n) \/ FollowAgreed(n) \/ ApplyNext(n)
  \/ \E n, m \in Node : ElectWith(n, m, [term |-> newest + 1])
  \/ \E n \in Node : AppendBy(n, [term |-> term[n]])

Spec == Init /\ [][Next]_vars

\* Else state machines do not see one log.
AppliedAgreed == \A n \in Node : IsPrefix(Prefix(log[n], applied[n]), agreed)
=============================================================================

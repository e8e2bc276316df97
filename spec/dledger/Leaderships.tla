------------------------------ MODULE Leaderships ------------------------------
(* What a service sees of a DLedger group that keeps its log: LogLeaders, as real groups do it.

   A leader is one of any term that has none: terms are left out, and a candidate of a smaller term may
   lead after one of a larger.  It begins with any part of what a leader before it wrote; one that
   leads a larger term than all others has all that was agreed on.  It may leave its office for any
   reason, and lead its term again with the same log.  A leader that was replaced commits what all
   its successors have, too: the acknowledgements came before.  A member that starts again has its
   newest snapshot, and one that is far behind loads that of its leader.

   Modelled: the above; members that know less than was agreed on; state machines that are behind.
   Not modelled: votes, messages, disks, and why a new leader has what was agreed on (DLedger); what the
   entries say: who extends this module has a kind of entry for it.

   Conventions: an entry has a field `term`; terms and indexes count from 1.  A term up to the newest one
   has a place in `led`; what has no leader has no entry there.
   Source: none in the code; the Raft paper, sections 5.4, 7 and 8.                               *)
EXTENDS Integers, FiniteSets, Prefixes

CONSTANTS Node       \* the members of the group

ASSUME NodeAssumption == IsFiniteSet(Node) /\ Node # {}

VARIABLES
  agreed,      \* the entries on which the group has agreed
  led,         \* term -> the log of its leader, as it last was in that term
  term,        \* node -> the term in which it leads, as far as it knows; 0: it does not
  office,      \* node -> the last term in which it led since it started, or 0
  log,         \* node -> its entries: those of a leader, or what it knows to be committed
  commit,      \* node -> how many of them it knows to be committed
  applied      \* node -> how many are in its state machine

vars == <<agreed, led, term, office, log, commit, applied>>

-----------------------------------------------------------------------------
Init ==
  /\ agreed = <<>> /\ led = <<>>
  /\ term = [n \in Node |-> 0] /\ office = [n \in Node |-> 0] /\ log = [n \in Node |-> <<>>]
  /\ commit = [n \in Node |-> 0] /\ applied = [n \in Node |-> 0]

Leads(n) == term[n] > 0
\* The newest term that had a leader.
Newest == Len(led)
IsLed(t) == t <= Newest /\ led[t] # <<>>

\* n leads in term t with log q.
LeadWith(n, t, q) ==
  /\ led' = [u \in 1..Max(Newest, t) |-> IF u = t THEN q ELSE IF u <= Newest THEN led[u] ELSE <<>>]
  /\ term' = [term EXCEPT ![n] = t] /\ office' = [office EXCEPT ![n] = t]
  /\ log' = [log EXCEPT ![n] = q]
  /\ UNCHANGED <<agreed, commit, applied>>

\* n has some of what leaders before it wrote; the leader of the newest term has what was agreed on.
ElectWith(n, t, noop) ==
  /\ t > 0 /\ ~IsLed(t) /\ term[n] < t
  /\ \E s \in 0..Min(t - 1, Newest) : \E i \in 0..(IF s = 0 THEN 0 ELSE Len(led[s])) :
       LET q == IF s = 0 THEN <<>> ELSE Prefix(led[s], i)
       IN /\ s = 0 \/ i > 0
          /\ t > Newest => IsPrefix(agreed, q)
          /\ IsPrefix(Prefix(log[n], commit[n]), q)

          /\ LeadWith(n, t, Append(q, noop))

\* Who has left its office leads its term again, with all that it had then.
LeadAgain(n, t, noop) ==
  /\ ~Leads(n) /\ t > 0 /\ office[n] = t
  /\ IsPrefix(Prefix(log[n], commit[n]), led[t])

  /\ LeadWith(n, t, Append(led[t], noop))

\* A leader leads no more: it was replaced, or hears of no majority.
LeaveOffice(n) ==
  /\ Leads(n)

  /\ term' = [term EXCEPT ![n] = 0]
  /\ log' = [log EXCEPT ![n] = Prefix(@, commit[n])]
  /\ UNCHANGED <<agreed, led, office, commit, applied>>

\* A leader takes an entry.
AppendBy(n, entry) ==
  /\ Leads(n)

  /\ log' = [log EXCEPT ![n] = Append(@, entry)]
  /\ led' = [led EXCEPT ![term[n]] = Append(@, entry)]
  /\ UNCHANGED <<agreed, term, office, commit, applied>>

\* All who lead a larger term have the first i entries of n.
SuccessorsHave(n, i) ==
  \A t \in (term[n] + 1)..Newest : IsLed(t) => IsPrefix(Prefix(log[n], i), led[t])

\* A leader commits entries, of which the last is of its term.
CommitBy(n) ==
  /\ Leads(n)
  /\ \E i \in (commit[n] + 1)..Len(log[n]) :
       /\ log[n][i].term = term[n]
       /\ SuccessorsHave(n, i)

       /\ commit' = [commit EXCEPT ![n] = i]
       /\ agreed' = Longer(agreed, Prefix(log[n], i))
  /\ UNCHANGED <<led, term, office, log, applied>>

\* A member that does not lead hears what is committed.
FollowAgreed(n) ==
  /\ ~Leads(n)
  /\ \E i \in (commit[n] + 1)..Len(agreed) :
       /\ log' = [log EXCEPT ![n] = Prefix(agreed, i)]
       /\ commit' = [commit EXCEPT ![n] = i]
  /\ UNCHANGED <<agreed, led, term, office, applied>>

\* It loads a snapshot of what is committed.
LoadSnapshot(n) ==
  /\ ~Leads(n)
  /\ \E i \in (commit[n] + 1)..Len(agreed) :
       /\ log' = [log EXCEPT ![n] = Prefix(agreed, i)]
       /\ commit' = [commit EXCEPT ![n] = i] /\ applied' = [applied EXCEPT ![n] = i]
  /\ UNCHANGED <<agreed, led, term, office>>

\* The next committed entry changes the state of n.
ApplyNext(n) ==
  /\ applied[n] < commit[n]

  /\ applied' = [applied EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<agreed, led, term, office, log, commit>>

\* n starts again with a snapshot of its first k entries.
StartAgain(n, k) ==
  /\ k <= applied[n]

  /\ term' = [term EXCEPT ![n] = 0] /\ office' = [office EXCEPT ![n] = 0]
  /\ log' = [log EXCEPT ![n] = Prefix(@, k)]
  /\ commit' = [commit EXCEPT ![n] = k] /\ applied' = [applied EXCEPT ![n] = k]
  /\ UNCHANGED <<agreed, led>>

Next ==
  \/ \E n \in Node : LeaveOffice(n) \/ CommitBy(n) \/ FollowAgreed(n) \/ LoadSnapshot(n) \/ ApplyNext(n)
  \/ \E n \in Node, t \in Nat : ElectWith(n, t, [term |-> t]) \/ LeadAgain(n, t, [term |-> t])
  \/ \E n \in Node, k \in Nat : StartAgain(n, k)
  \/ \E n \in Node : AppendBy(n, [term |-> term[n]])

Spec == Init /\ [][Next]_vars

\* Else state machines do not see one log.
AppliedAgreed == \A n \in Node : IsPrefix(Prefix(log[n], applied[n]), agreed)
=============================================================================

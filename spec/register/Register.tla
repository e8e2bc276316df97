------------------------------- MODULE Register -------------------------------
(* A register on a replicated log, written and read by clients: is what they hear that of one register?

   A write is an entry of the log, and is answered when the leader that took it has applied it.  A
   read is an entry, too (RaftLog read), or it is none: the leader notes its commit index, hears once
   more of a majority that it is the leader, waits until it has applied so much, and answers from its
   state (ReadIndex read).  A leader that does not know that it was replaced must answer nothing that
   is old.

   Modelled: leaders as DLedger has them (Leaderships): a new one begins with all that was agreed on,
   and maybe with more; one that was replaced may take writes; which of its entries a new leader
   knows to be committed; state machines that are behind; members that start again; answers that
   never come.
   Not modelled: votes, messages between members (DLedger), several keys, values other than numbers,
   what a snapshot is (SnapshotLoading).

   Conventions: a value is the number of its write; 0 is what was there before.
   Source: RaftLog read and ReadIndex read of DLedgerServer (handleRead) and RegisterDLedger of
   openmessaging/dledger at d054548; published rule: RIP-59, "register"; the Raft paper, section 8. *)
EXTENDS Integers, FiniteSets, Prefixes

CONSTANTS
  Node,        \* the members of the group
  Client,      \* who writes and reads
  None         \* stands for "nobody"

VARIABLES
  \* the group, as Leaderships has it
  agreed,      \* the entries on which it has agreed
  led,         \* term -> the log of its leader, as it last was in that term
  term,        \* node -> the term in which it leads, as far as it knows; 0: it does not
  office,      \* node -> the last term in which it led since it started, or 0
  log,         \* node -> its entries
  commit,      \* node -> how many of them it knows to be committed
  applied,     \* node -> how many are in its state machine
  \* clients
  calls,       \* client -> its call, see Call, or NoCall
  writes       \* number of writes that were called

leaderVars == <<agreed, led, term, office, log, commit, applied>>
vars == <<leaderVars, calls, writes>>

L == INSTANCE Leaderships

-----------------------------------------------------------------------------
\* An entry is a write of a value, a read of a client, or a no-op of a new leader.
Entry == [kind : {"write", "read", "noop"}, value : Nat, by : Client \cup {None}, term : Nat]
Noop(t) == [kind |-> "noop", value |-> 0, by |-> None, term |-> t]

\* A call waits at a node: for the entry at `index`, or until so much is applied.  Of a ReadIndex read
\* `confirmed` says that a majority has answered since.  `since` and `newest`: versions and the newest
\* term at the call, histories.
Call == [kind : {"write", "log read", "index read"}, value : Nat \cup {-1}, since : Nat, newest : Nat,
         at : Node \cup {None}, term : Nat, index : Nat, confirmed : BOOLEAN, answered : BOOLEAN]
NoCall == [kind |-> "none"]

IsWrite(e) == e.kind = "write"
Values(q) == LET w == SelectSeq(q, IsWrite) IN [i \in DOMAIN w |-> w[i].value]
Versions == <<0>> \o Values(agreed)
\* What the register has after some entries.
ValueOf(q) == LET v == Values(q) IN IF v = <<>> THEN 0 ELSE v[Len(v)]

Init == L!Init /\ calls = [c \in Client |-> NoCall] /\ writes = 0

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action) == TRUE

\* Which terms there may be.
Terms == Nat

\* ---- The group (Leaderships) ----

\* n leads in term t, for the first time or again, and writes its no-op.
Elect(n, t) ==
  /\ Explored("Elect")
  /\ t = L!Newest + 1 \/ Explored("AnyTerm")
  /\ L!ElectWith(n, t, Noop(t)) \/ (Explored("LeadAgain") /\ L!LeadAgain(n, t, Noop(t)))
  /\ UNCHANGED <<calls, writes>>

\* n hears that it was replaced, or nothing of a majority.
StepDown(n) ==
  /\ term[n] < L!Newest \/ Explored("Resign")
  /\ L!LeaveOffice(n)
  /\ UNCHANGED <<calls, writes>>
CommitEntry(n) == L!CommitBy(n) /\ UNCHANGED <<calls, writes>>
Follow(n) == L!FollowAgreed(n) /\ UNCHANGED <<calls, writes>>
Apply(n) == L!ApplyNext(n) /\ UNCHANGED <<calls, writes>>

Install(n) == Explored("Install") /\ L!LoadSnapshot(n) /\ UNCHANGED <<calls, writes>>
Restart(n, k) == Explored("Restart") /\ L!StartAgain(n, k) /\ UNCHANGED <<calls, writes>>

\* ---- Calls ----

MayCall(c) == IF calls[c] = NoCall THEN TRUE ELSE calls[c].answered
NewCall(c, kind, value, n, index) ==
  calls' = [calls EXCEPT ![c] =
    [kind |-> kind, value |-> value, since |-> Len(Versions), newest |-> L!Newest, at |-> n,
     term |-> term[n], index |-> index, confirmed |-> FALSE, answered |-> FALSE]]

\* A leader takes a write, or a read that is an entry, perhaps one that was replaced.
Propose(n, c, kind, value) ==
  /\ MayCall(c)
  /\ L!AppendBy(n, [kind |-> kind, value |-> Max(value, 0), by |-> c, term |-> term[n]])
  /\ NewCall(c, IF kind = "write" THEN "write" ELSE "log read", value, n, Len(log[n]) + 1)

Write(n, c) ==
  /\ Explored("Write")
  /\ Propose(n, c, "write", writes + 1)
  /\ writes' = writes + 1

LogRead(n, c) ==
  /\ Explored("LogRead")
  /\ Propose(n, c, "read", -1)
  /\ UNCHANGED writes

\* A leader knows that it has all that was committed before, once an entry of its own term is:  \* CHECK OwnTermFirst
KnowsCommitted(n) == commit[n] > 0 /\ log[n][commit[n]].term = term[n]
\* Who answers reads leads.                                                     \* CHECK LocalRead
MayRead(n) == L!Leads(n) /\ KnowsCommitted(n)

\* A read that is no entry begins: the leader notes what is committed.
IndexRead(n, c) ==
  /\ Explored("IndexRead")
  /\ MayCall(c) /\ MayRead(n)

  /\ NewCall(c, "index read", -1, n, commit[n])
  /\ UNCHANGED <<leaderVars, writes>>

\* A majority answers heartbeats that were sent since: so none of a larger term was elected before the
\* call, though one may be by now.                                              \* CHECK Heartbeats
IsConfirmed(n, c) == calls[c].newest = calls[c].term /\ term[n] = calls[c].term

ConfirmLeadership(n, c) ==
  /\ calls[c] # NoCall /\ calls[c].kind = "index read" /\ calls[c].at = n
  /\ ~calls[c].confirmed /\ ~calls[c].answered /\ IsConfirmed(n, c)

  /\ calls' = [calls EXCEPT ![c].confirmed = TRUE]
  /\ UNCHANGED <<leaderVars, writes>>

\* The state machine has what was noted.                                        \* CHECK AppliedFirst
HasApplied(n, c) == applied[n] >= calls[c].index

AnswerIndexRead(n, c) ==
  /\ calls[c] # NoCall /\ calls[c].kind = "index read" /\ calls[c].at = n
  /\ calls[c].confirmed /\ ~calls[c].answered
  /\ HasApplied(n, c)

  /\ calls' = [calls EXCEPT ![c].answered = TRUE, ![c].value = ValueOf(Prefix(log[n], applied[n]))]
  /\ UNCHANGED <<leaderVars, writes>>

\* What was applied at the index is the entry of this call.                     \* CHECK SameEntry
IsEntryOf(n, c) == LET e == log[n][calls[c].index] IN e.by = c /\ e.term = calls[c].term
\* It was applied, and not merely written.                                      \* CHECK AnswerApplied
IsDone(n, c) == applied[n] >= calls[c].index

\* A write or a read is answered when its entry is applied, where it was taken.
AnswerEntry(n, c) ==
  /\ calls[c] # NoCall /\ calls[c].kind \in {"write", "log read"} /\ calls[c].at = n
  /\ ~calls[c].answered
  /\ calls[c].index <= Len(log[n]) /\ IsDone(n, c) /\ IsEntryOf(n, c)

  /\ calls' = [calls EXCEPT ![c].answered = TRUE,
                 ![c].value = IF calls[c].kind = "write" THEN @
                              ELSE ValueOf(Prefix(log[n], calls[c].index))]
  /\ UNCHANGED <<leaderVars, writes>>

\* A client waits no more; nobody knows what becomes of its call.
GiveUp(c) ==
  /\ Explored("GiveUp")
  /\ calls[c] # NoCall /\ ~calls[c].answered

  /\ calls' = [calls EXCEPT ![c] = NoCall]
  /\ UNCHANGED <<leaderVars, writes>>

-----------------------------------------------------------------------------
Next ==
  \/ \E n \in Node : StepDown(n) \/ CommitEntry(n) \/ Follow(n) \/ Apply(n) \/ Install(n)
  \/ \E n \in Node, t \in Terms : Elect(n, t)
  \/ \E n \in Node, k \in Nat : Restart(n, k)
  \/ \E n \in Node, c \in Client :
       \/ Write(n, c) \/ LogRead(n, c) \/ IndexRead(n, c)
       \/ ConfirmLeadership(n, c) \/ AnswerIndexRead(n, c) \/ AnswerEntry(n, c)
  \/ \E c \in Client : GiveUp(c)

Spec == Init /\ [][Next]_vars
=============================================================================

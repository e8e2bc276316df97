--------------------------- MODULE ControllerGroup ---------------------------
(* A controller of several nodes: do brokers hear from it what they would hear from a single one?

   The nodes keep a replicated log.  A request is an entry; each node applies the entries in order,
   and a request is judged when it is applied: by then others may have changed what its sender and
   the leader that took it had seen.  The leader answers when it has applied the entry.  It may be
   replaced while a request waits: then the answer may come late, or never, and the request may have
   been done all the same; the sender asks again, perhaps another leader.

   Modelled: leaders that were replaced and do not know, and what the next one has of their entries
   (LogLeaders); state machines that are behind; requests that are late, doubled or lost; several
   requests that wait at one leader, which is what remains of five seconds of waiting.
   Not modelled: votes and messages between nodes (DLedger), registrations and incarnations, members
   with a torn log, the removal of a group's data, unclean elections, snapshots (SnapshotLoading),
   answers without an entry: what a broker reads may be old, as `views` of ReplicaGroup.

   Conventions: offsets count entries from 1.  What is in the log decides; what only a leader knows,
   who is alive by the heartbeats that it hears, goes into the entry.
   Source: DLedgerController, ReplicasInfoManager of apache/rocketmq at 8fc57f1468, and
   JRaftControllerStateMachine, which judges as it is done here; published rule: RIP-44.          *)
EXTENDS Integers, FiniteSets, Prefixes

CONSTANTS
  Node,        \* the members of the controller group
  Broker,      \* the brokers of one broker group
  None         \* stands for "no broker"

VARIABLES
  \* the controller group, as LogLeaders has it
  agreed,      \* the entries on which it has agreed
  newest,      \* the term of its newest leader
  term,        \* node -> the term in which it leads, as far as it knows; 0: it does not
  log,         \* node -> its entries
  commit,      \* node -> how many of them it knows to be committed
  applied,     \* node -> how many are in its state machine
  results,     \* node -> its register after each entry that it has applied
  \* requests
  sent,        \* those that were sent: each may arrive at any leader, at any time, and again
  calls        \* those that leaders took, see Call; with what was answered

leaderVars == <<agreed, newest, term, log, commit, applied>>
vars == <<leaderVars, results, sent, calls>>

L == INSTANCE LogLeaders

-----------------------------------------------------------------------------
\* The controller's register of a broker group.
Register == [master : Broker \cup {None}, epoch : Nat,      \* masterEpoch
             sss : SUBSET Broker, sssEpoch : Nat]           \* SyncStateSet, number of its decisions
Empty == [master |-> None, epoch |-> 0, sss |-> {}, sssEpoch |-> 0]

\* "alter": the master `from` of an epoch asks for another set in place of number `exp`.
\* "elect": somebody asks for the election of `from`, in place of the master of an epoch.
Request == [kind : {"alter", "elect"}, from : Broker, epoch : Nat, exp : Nat, set : SUBSET Broker]
\* An entry is a request, and whether its leader counts as alive whom it names; or a new leader's no-op.
Entry == [kind : {"alter", "elect", "noop"}, from : Broker \cup {None}, epoch : Nat, exp : Nat,
          set : SUBSET Broker, alive : BOOLEAN, term : Nat]
Noop(t) == [kind |-> "noop", from |-> None, epoch |-> 0, exp |-> 0, set |-> {}, alive |-> TRUE,
            term |-> t]
EntryOf(r, alive, t) ==
  [kind |-> r.kind, from |-> r.from, epoch |-> r.epoch, exp |-> r.exp, set |-> r.set,
   alive |-> alive, term |-> t]

\* A request waits at a node for the entry at `index`; `answer` is a register, in a set, or nothing yet.
Call == [at : Node, term : Nat, index : Nat, request : Request, answer : SUBSET Register]

Init == L!Init /\ results = [n \in Node |-> <<>>] /\ sent = {} /\ calls = {}

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action) == TRUE

\* What a node's register says now.
RegisterOf(n) == IF applied[n] = 0 THEN Empty ELSE results[n][applied[n]]

\* ---- What an entry does to the register c of a node ----

\* A request to alter is of the master, of its epoch,                           \* CHECK MasterEpoch
FromMaster(c, e) == e.from = c.master
OfEpoch(c, e) == e.epoch = c.epoch
\* and for the present set: a copy is for the one before.                       \* CHECK SetEpoch
OfSet(c, e) == e.exp = c.sssEpoch
\* A set has its master.                                                        \* CHECK HasMaster
HasMaster(c, e) == c.master \in e.set
\* Who is alive is what its leader has found: nodes hear different things.      \* CHECK OwnHeartbeats
IsAlive(n, e) == e.alive
\* A refusal spends the set epoch, so that no copy is granted later.            \* CHECK Spent
EpochAfterRefusal(c) == c.sssEpoch + 1

Alter(n, c, e) ==
  IF ~(FromMaster(c, e) /\ OfEpoch(c, e) /\ OfSet(c, e)) THEN c
  ELSE IF IsAlive(n, e) /\ HasMaster(c, e) THEN [c EXCEPT !.sss = e.set, !.sssEpoch = @ + 1]
  ELSE [c EXCEPT !.sssEpoch = EpochAfterRefusal(c)]

\* Who is elected is a member by then; the first master is any broker.          \* CHECK LateElection
Electable(c, e) == c.sss = {} \/ e.from \in c.sss
\* It takes the place of the master that was missed, and not of a later one.    \* CHECK Missed
OfMissed(c, e) == e.epoch = c.epoch

ElectMaster(c, e) ==
  IF e.from # c.master /\ OfMissed(c, e) /\ Electable(c, e)
  THEN [master |-> e.from, epoch |-> c.epoch + 1, sss |-> {e.from}, sssEpoch |-> c.sssEpoch + 1]
  ELSE c

Judge(n, c, e) ==
  CASE e.kind = "alter" -> Alter(n, c, e)
    [] e.kind = "elect" -> ElectMaster(c, e)
    [] OTHER -> c

\* ---- The controller group (LogLeaders) ----

Elect(n, m) ==
  /\ Explored("Elect")
  /\ L!ElectWith(n, m, Noop(newest + 1))
  /\ UNCHANGED <<results, sent, calls>>

StepDown(n) == L!LeaveOffice(n) /\ UNCHANGED <<results, sent, calls>>
CommitEntry(n) == L!CommitBy(n) /\ UNCHANGED <<results, sent, calls>>
Follow(n) == L!FollowAgreed(n) /\ UNCHANGED <<results, sent, calls>>

\* The next committed entry is judged by what the register of n says now.
Apply(n) ==
  /\ L!ApplyNext(n)
  /\ results' = [results EXCEPT ![n] = Append(@, Judge(n, RegisterOf(n), log[n][applied'[n]]))]
  /\ UNCHANGED <<sent, calls>>

\* Who has applied the no-op of its term has all that was agreed on before.     \* CHECK OwnNoop
HasOwnNoop(n) == applied[n] > 0 /\ log[n][applied[n]].term = term[n]
\* A leader serves, which may have been replaced.
Serves(n) == L!Leads(n) /\ HasOwnNoop(n)

\* ---- Requests ----

\* A master asks for another set; what it knows it has heard from n, which may be replaced by now.
AskAlter(n, b) ==
  /\ Explored("AskAlter")
  /\ Serves(n) /\ RegisterOf(n).master = b

  /\ \E S \in SUBSET Broker \ {{}, RegisterOf(n).sss} :
       LET r == [kind |-> "alter", from |-> b, epoch |-> RegisterOf(n).epoch,
                 exp |-> RegisterOf(n).sssEpoch, set |-> S]
       IN r \notin sent /\ sent' = sent \cup {r}
  /\ UNCHANGED <<leaderVars, results, calls>>

\* The master is missed by a leader's scan or by a broker, or an operator names another one.
AskElection(n, c) ==
  /\ Explored("AskElection")
  /\ Serves(n) /\ RegisterOf(n).master # c
  /\ RegisterOf(n).sss = {} \/ c \in RegisterOf(n).sss

  /\ LET r == [kind |-> "elect", from |-> c, epoch |-> RegisterOf(n).epoch, exp |-> 0, set |-> {}]
     IN r \notin sent /\ sent' = sent \cup {r}
  /\ UNCHANGED <<leaderVars, results, calls>>

\* A leader takes a request whatever else waits there,                          \* CHECK NoTimeout
MayTake(n, r) == TRUE
\* and writes the request, not what it makes of it by what it has applied so far.  \* CHECK B36
Content(n, r) == r
\* A leader elects none of whom it does not hear.
MayBeDead(r) == IF r.kind = "alter" /\ Explored("Dead") THEN {FALSE} ELSE {}

\* A leader takes a request, perhaps one that was replaced, perhaps a copy.
Take(n) ==
  \E r \in sent :
    /\ Explored("Take") /\ Serves(n)
    /\ MayTake(n, r)

    /\ \E alive \in {TRUE} \cup MayBeDead(r) :
         L!AppendBy(n, EntryOf(Content(n, r), alive, term[n]))
    /\ calls' = calls \cup {[at |-> n, term |-> term[n], index |-> Len(log[n]) + 1,
                             request |-> Content(n, r), answer |-> {}]}
    /\ UNCHANGED <<results, sent>>

\* The entry is applied, and not merely written.                                \* CHECK AnswerApplied
IsDone(k) == applied[k.at] >= k.index
\* It is the one of this request: after a replacement another one may be there. \* CHECK SameEntry
IsItsEntry(k) == log[k.at][k.index].term = k.term
\* The answer is what the register says after the entry.
AnswerTo(k) == results[k.at][k.index]
MayAnswer(k) == k.answer = {} /\ k.index <= Len(log[k.at]) /\ IsDone(k) /\ IsItsEntry(k)

\* The sender of a request hears the answer, perhaps from a leader that was replaced, perhaps never.
Answer(n) ==
  /\ \E k \in calls :
       /\ k.at = n /\ MayAnswer(k)

       /\ calls' = (calls \ {k}) \cup {[k EXCEPT !.answer = {AnswerTo(k)}]}
  /\ UNCHANGED <<leaderVars, results, sent>>

-----------------------------------------------------------------------------
Next ==
  \/ \E n \in Node :
       StepDown(n) \/ CommitEntry(n) \/ Follow(n) \/ Apply(n) \/ Take(n) \/ Answer(n)
  \/ \E n, m \in Node : Elect(n, m)
  \/ \E n \in Node, b \in Broker : AskAlter(n, b) \/ AskElection(n, b)

Spec == Init /\ [][Next]_vars
=============================================================================

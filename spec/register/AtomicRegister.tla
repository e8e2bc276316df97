---------------------------- MODULE AtomicRegister ----------------------------
(* What clients of a register may rely on: each write and each read takes effect at one moment
   between its call and its answer.

   The register has one version after the other.  A write adds one; a read is answered with a version
   that was the present one at some moment of the call.  A call of which nobody knows what became of
   it may take effect at any time later, or never.

   Modelled: calls of clients, each after the answer to the one before, or after it was given up.
   Not modelled: several keys (each is a register), who keeps the register (Register).

   Conventions: a value is the number of the write that wrote it; 0 is what was there before.
   Source: none in the code; Register implements it.  Herlihy and Wing, "Linearizability", 1990.  *)
EXTENDS Prefixes, FiniteSets

CONSTANTS Client     \* who calls

VARIABLES
  calls,       \* client -> its call, see Call, or NoCall
  orphans,     \* writes that were given up and have not taken effect
  versions     \* the values that the register has had, the present one last

vars == <<calls, orphans, versions>>

\* value: what a write writes, and what has been answered to a read, -1 before; since: how many
\* versions there were at the call.
Call == [kind : {"write", "read"}, value : Nat \cup {-1}, since : Nat, answered : BOOLEAN]
NoCall == [kind |-> "none"]

Present == Len(versions)
\* Writes that may take effect.
Open == orphans \cup {calls[c].value : c \in {x \in Client :
          calls[x] # NoCall /\ calls[x].kind = "write" /\ ~calls[x].answered}}
Range(q) == {q[i] : i \in DOMAIN q}

-----------------------------------------------------------------------------
Init == calls = [c \in Client |-> NoCall] /\ orphans = {} /\ versions = <<0>>

MayCall(c) == IF calls[c] = NoCall THEN TRUE ELSE calls[c].answered

Write(c) ==
  /\ MayCall(c)
  /\ \E v \in Nat \ ({0} \cup Open \cup Range(versions)) :
       calls' = [calls EXCEPT ![c] = [kind |-> "write", value |-> v, since |-> Present,
                                      answered |-> FALSE]]
  /\ UNCHANGED <<orphans, versions>>

Read(c) ==
  /\ MayCall(c)
  /\ calls' = [calls EXCEPT ![c] = [kind |-> "read", value |-> -1, since |-> Present,
                                    answered |-> FALSE]]
  /\ UNCHANGED <<orphans, versions>>

\* Writes take effect, one or more, each once.
TakeEffect ==
  /\ IsPrefix(versions, versions') /\ versions' # versions
  /\ LET new == {versions'[i] : i \in (Present + 1)..Len(versions')}
     IN /\ new \subseteq Open \ Range(versions)
        /\ Cardinality(new) = Len(versions') - Present
        /\ orphans' = orphans \ new
  /\ UNCHANGED calls

\* A client hears that its write was done.
AnswerWrite(c) ==
  /\ calls[c] # NoCall /\ calls[c].kind = "write" /\ ~calls[c].answered
  /\ calls[c].value \in Range(versions)

  /\ calls' = [calls EXCEPT ![c].answered = TRUE]
  /\ UNCHANGED <<orphans, versions>>

\* A client hears what it has read.
AnswerRead(c) ==
  /\ calls[c] # NoCall /\ calls[c].kind = "read" /\ ~calls[c].answered

  /\ \E i \in calls[c].since..Present :
       calls' = [calls EXCEPT ![c].answered = TRUE, ![c].value = versions[i]]
  /\ UNCHANGED <<orphans, versions>>

\* A client waits no more, and calls again some time.
GiveUp(c) ==
  /\ calls[c] # NoCall /\ ~calls[c].answered

  /\ calls' = [calls EXCEPT ![c] = NoCall]
  /\ orphans' = orphans \cup
       (IF calls[c].kind = "write" THEN {calls[c].value} \ Range(versions) ELSE {})
  /\ UNCHANGED versions

Next ==
  \/ TakeEffect
  \/ \E c \in Client : Write(c) \/ Read(c) \/ AnswerWrite(c) \/ AnswerRead(c) \/ GiveUp(c)

Spec == Init /\ [][Next]_vars
=============================================================================

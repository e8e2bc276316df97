-------------------------- MODULE RegisterProperties --------------------------
(* What Register promises: invariants, each with what happens else; situations that must be
   reachable; refinement.                                                                        *)
EXTENDS Register

TypeOK ==
  /\ agreed \in Seq(Entry) /\ led \in Seq(Seq(Entry))
  /\ term \in [Node -> Nat] /\ office \in [Node -> Nat] /\ log \in [Node -> Seq(Entry)]
  /\ commit \in [Node -> Nat] /\ applied \in [Node -> Nat]
  /\ \A c \in Client : calls[c] = NoCall \/ calls[c] \in Call
  /\ writes \in Nat

-----------------------------------------------------------------------------
Answered(c) == calls[c] # NoCall /\ calls[c].answered
IsRead(c) == calls[c] # NoCall /\ calls[c].kind \in {"log read", "index read"}

\* Else a client that was told that its write is done reads something else.
WriteIsThere ==
  LET v == Versions
  IN \A c \in Client : Answered(c) /\ calls[c].kind = "write" =>
       \E i \in DOMAIN v : v[i] = calls[c].value

\* Else a client reads what was there before its call, or what was never there.
ReadIsCurrent ==
  LET v == Versions
  IN \A c \in Client : Answered(c) /\ IsRead(c) =>
       \E i \in calls[c].since..Len(v) : v[i] = calls[c].value

\* Else state machines do not see one log.
AppliedAgreed == L!AppliedAgreed

\* ---- Refinement ----

\* Writes that nobody waits for, and that may still be committed.
Waiting == {calls[c].value : c \in {x \in Client :
              calls[x] # NoCall /\ calls[x].kind = "write" /\ ~calls[x].answered}}
Orphans == (1..writes) \ (Waiting \cup {Versions[i] : i \in DOMAIN Versions})
AR == INSTANCE AtomicRegister WITH
        calls <- [c \in Client |->
          IF calls[c] = NoCall THEN NoCall
          ELSE [kind |-> IF IsRead(c) THEN "read" ELSE "write", value |-> calls[c].value,
                since |-> calls[c].since, answered |-> calls[c].answered]],
        orphans <- Orphans,
        versions <- Versions
Refinement == AR!Spec

RL == INSTANCE ReplicatedLog WITH seen <- [n \in Node |-> Prefix(log[n], applied[n])]
OnReplicatedLog == RL!Spec

-----------------------------------------------------------------------------
\* ---- Witnesses: situations which must be reachable ----

NoZombieWrite ==            \* a leader that was replaced has taken a write
  ~(\E n \in Node : L!Leads(n) /\ term[n] < L!Newest /\ Len(log[n]) > commit[n] + 1)
NoOrphan == Orphans = {}    \* a write was given up, and may still be done
NoReadOfOther ==            \* a read sees a write that was done during the call
  ~(\E c \in Client : Answered(c) /\ IsRead(c) /\ calls[c].value # Versions[calls[c].since])
NoIndexRead == ~(\E c \in Client : Answered(c) /\ calls[c].kind = "index read" /\ calls[c].value > 0)

-----------------------------------------------------------------------------
THEOREM Spec => [](TypeOK /\ WriteIsThere /\ ReadIsCurrent /\ AppliedAgreed)
=============================================================================

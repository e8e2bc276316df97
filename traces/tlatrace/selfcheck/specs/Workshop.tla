------------------------------- MODULE Workshop -------------------------------
(* ENABLED in guards, in invariants and below operators, of actions that say little of the state
   after them; and actions inside boxes and angles.  Workers take jobs from a heap and may pause. *)
EXTENDS Integers, FiniteSets, Sequences

CONSTANT Worker

VARIABLES heap, held, paused, done
vars == <<heap, held, paused, done>>

Take(w) ==
  /\ held[w] = 0
  /\ w \notin paused
  /\ heap > 0
  /\ \E n \in 1..2 : n <= heap /\ heap' = heap - n /\ held' = [held EXCEPT ![w] = n]
  /\ UNCHANGED <<paused, done>>

Finish(w) ==
  /\ held[w] > 0
  /\ held' = [held EXCEPT ![w] = 0]
  /\ done' = Append(done, held[w])
  /\ UNCHANGED <<heap, paused>>

\* A part of an action: nothing is said of the other variables.
Less(k) == heap' = heap - k /\ heap' >= 0
Swap(a, b) == /\ held[a] # held[b]
              /\ held' = [held EXCEPT ![a] = held[b], ![b] = held[a]]

Able(A(_)) == {w \in Worker : A(w)}
CanTake(w) == ENABLED Take(w)
CanSwap(a) == \E b \in Worker : ENABLED Swap(a, b)

\* Those that cannot do anything pause.
Pause(w) ==
  /\ ~ENABLED (Take(w) \/ Finish(w))
  /\ w \notin paused
  /\ paused' = paused \cup {w}
  /\ UNCHANGED <<heap, held, done>>

\* A break ends when somebody else could begin two jobs.
Resume(w) ==
  /\ w \in paused
  /\ LET two == 2 IN ENABLED Less(two) \/ (ENABLED Less(1) /\ Cardinality(paused) = 2)
  /\ paused' = paused \ {w}
  /\ [Finish(w)]_<<heap, held, done>>

\* More jobs come while nobody has one; an angle: the heap must change.
Deliver ==
  /\ Able(LAMBDA w : ENABLED Finish(w)) = {}
  /\ Len(done) < 3
  /\ <<heap' \in {heap, heap + 1, 2}>>_heap
  /\ heap' <= 3
  /\ UNCHANGED <<held, paused, done>>

Clear == /\ ~ENABLED <<done' = IF Len(done) < 3 THEN done ELSE <<>> >>_done
         /\ FALSE
         /\ UNCHANGED vars

Init == heap = 2 /\ held = [w \in Worker |-> 0] /\ paused = {} /\ done = <<>>
Next ==
  \/ \E w \in Worker : Take(w)
  \/ \E w \in Worker : Len(done) < 3 /\ Finish(w)
  \/ \E w \in Worker : Pause(w)
  \/ \E w \in Worker : Resume(w)
  \/ Deliver
  \/ Clear

TypeOK ==
  /\ heap \in 0..3
  /\ held \in [Worker -> 0..2]
  /\ paused \subseteq Worker
  /\ done \in Seq({1, 2})
TakeSaysSo == \A w \in Worker : CanTake(w) <=> (held[w] = 0 /\ w \notin paused /\ heap > 0)
SwapSaysSo == \A a \in Worker : CanSwap(a) <=> \E b \in Worker : held[a] # held[b]
ClearSaysSo == ENABLED <<done' = <<>> >>_done <=> done # <<>>
LessSaysSo == {k \in 0..4 : ENABLED Less(k)} = 0..heap
OneFinishes == (ENABLED \E w \in Worker : Finish(w)) = (\E w \in Worker : held[w] > 0)
==============================================================================

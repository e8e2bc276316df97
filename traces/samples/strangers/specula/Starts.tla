------------------------------- MODULE Starts -------------------------------
(* Servers start with the entries that a line says, stand for election and step down: a small
   specification for a log of our own in the form of etcd's tests, where a line that a server is a
   follower is its start, a step of its own, or a part of the step before.                        *)
EXTENDS Naturals

CONSTANT Server

VARIABLES currentTerm, state, entries

vars == <<currentTerm, state, entries>>

Init ==
  /\ currentTerm = [i \in Server |-> 0]
  /\ state = [i \in Server |-> "Down"]
  /\ entries = [i \in Server |-> 0]

Start(i, n) ==
  /\ state[i] = "Down"
  /\ state' = [state EXCEPT ![i] = "StateFollower"]
  /\ entries' = [entries EXCEPT ![i] = n]
  /\ UNCHANGED currentTerm

Timeout(i) ==
  /\ state[i] \in {"StateFollower", "StateCandidate"}
  /\ currentTerm' = [currentTerm EXCEPT ![i] = @ + 1]
  /\ state' = [state EXCEPT ![i] = "StateCandidate"]
  /\ UNCHANGED entries

\* A server hears of a later term from one with as many entries.
Hear(i, j) ==
  /\ state[i] # "Down" /\ currentTerm[j] > currentTerm[i] /\ entries[j] >= entries[i]
  /\ currentTerm' = [currentTerm EXCEPT ![i] = currentTerm[j]]
  /\ state' = [state EXCEPT ![i] = "StateFollower"]
  /\ UNCHANGED entries

StepDown(i) ==
  /\ state[i] = "StateCandidate"
  /\ state' = [state EXCEPT ![i] = "StateFollower"]
  /\ UNCHANGED <<currentTerm, entries>>

Follow(i) == StepDown(i) \/ (state[i] = "StateFollower" /\ UNCHANGED vars)

Next ==
  \/ \E i \in Server, n \in Nat : Start(i, n)
  \/ \E i \in Server : Timeout(i) \/ Follow(i)
  \/ \E i, j \in Server : Hear(i, j)
=============================================================================

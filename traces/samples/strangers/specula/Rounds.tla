------------------------------- MODULE Rounds -------------------------------
(* Nodes agree on a block, and one of them logs what it does: a small specification for a log of our
   own in the form of Besu's, with the names of its mapping.                                      *)
EXTENDS Naturals, FiniteSets

CONSTANTS Server, Logged, Nil

VARIABLES currentHeight, currentRound, committed, proposed, prepared, messages

Init ==
  /\ currentHeight = [s \in Server |-> 1]
  /\ currentRound = [s \in Server |-> Nil]
  /\ committed = [s \in Server |-> FALSE]
  /\ proposed = [s \in Server |-> FALSE]
  /\ prepared = [s \in Server |-> {}]
  /\ messages = {}

Sent(type, s) ==
  {[mtype |-> type, msource |-> s, mdest |-> d, mround |-> 0] : d \in Server \ {s}}

\* Whose turn it is is not said: the first one that proposes.
Propose(s) ==
  /\ currentRound[s] = Nil /\ \A t \in Server : ~proposed[t]
  /\ currentRound' = [currentRound EXCEPT ![s] = 0]
  /\ proposed' = [proposed EXCEPT ![s] = TRUE]
  /\ messages' = messages \cup Sent("proposal", s)
  /\ UNCHANGED <<currentHeight, committed, prepared>>

Wait(s) ==
  /\ currentRound[s] = Nil
  /\ currentRound' = [currentRound EXCEPT ![s] = 0]
  /\ UNCHANGED <<currentHeight, committed, proposed, prepared, messages>>

BlockTimerExpiry(s) == Propose(s) \/ Wait(s)

HandleProposal(s, m) ==
  /\ m \in messages /\ m.mtype = "proposal" /\ m.mdest = s /\ ~proposed[s]
  /\ currentRound' = [currentRound EXCEPT ![s] = m.mround]
  /\ proposed' = [proposed EXCEPT ![s] = TRUE]
  /\ messages' = (messages \ {m}) \cup Sent("prepare", s)
  /\ UNCHANGED <<currentHeight, committed, prepared>>

Count(s, voter) ==
  /\ proposed[s]
  /\ prepared' = [prepared EXCEPT ![s] = @ \cup {voter}]
  /\ committed' = [committed EXCEPT ![s] = Cardinality(prepared'[s]) >= 2]
  /\ UNCHANGED <<currentHeight, currentRound, proposed>>

HandlePrepare(s, m) ==
  /\ m \in messages /\ m.mtype = "prepare" /\ m.mdest = s
  /\ Count(s, m.msource) /\ messages' = messages \ {m}

OwnPrepare(s) == Count(s, s) /\ UNCHANGED messages

RoundExpiry(s) ==
  /\ currentRound[s] # Nil /\ ~committed[s]
  /\ currentRound' = [currentRound EXCEPT ![s] = @ + 1]
  /\ proposed' = [proposed EXCEPT ![s] = FALSE]
  /\ prepared' = [prepared EXCEPT ![s] = {}]
  /\ UNCHANGED <<currentHeight, committed, messages>>

NewChainHead(s) ==
  /\ committed[s]
  /\ currentHeight' = [currentHeight EXCEPT ![s] = @ + 1]
  /\ currentRound' = [currentRound EXCEPT ![s] = Nil]
  /\ committed' = [committed EXCEPT ![s] = FALSE]
  /\ UNCHANGED <<proposed, prepared, messages>>

OtherTimer(s) == s # Logged /\ BlockTimerExpiry(s)
OtherMessage(s, m) == s # Logged /\ (HandleProposal(s, m) \/ HandlePrepare(s, m))

Next ==
  \/ \E s \in Server :
       BlockTimerExpiry(s) \/ OwnPrepare(s) \/ RoundExpiry(s) \/ NewChainHead(s) \/ OtherTimer(s)
  \/ \E m \in messages :
       \/ HandleProposal(m.mdest, m) \/ HandlePrepare(m.mdest, m)
       \/ OtherMessage(m.mdest, m)
=============================================================================

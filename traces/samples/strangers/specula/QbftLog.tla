------------------------------- MODULE QbftLog -------------------------------
(* Besu's QBFT as one node logs it: the node's own steps are lines, those of the others are not, and
   a line may say that the node counts its own prepare message, which is no message of the network. *)
EXTENDS base

CONSTANTS
  Logged,         \* the node whose log it is
  Order           \* who proposes at height 1, one round after the other

FirstOne == <<"s1", "s2", "s3", "s4">>
FirstTwo == <<"s2", "s3", "s4", "s1">>

InTurn(h, r) == Order[((h - 1 + r) % Len(Order)) + 1]

LOCAL Commits(s) ==
  {[mtype |-> CommitMsg, msource |-> s, mdest |-> d, mheight |-> currentHeight[s],
    mround |-> currentRound[s], mblockHash |-> proposedBlock[s].hash, mseal |-> s] :
     d \in ValidatorsAt(currentHeight[s]) \ {s}}

OwnPrepare(s) ==
  /\ alive[s] /\ ~IsNil(proposedBlock[s])
  /\ prepareMessages' = [prepareMessages EXCEPT
       ![s] = @ \cup {[sender |-> s, blockHash |-> proposedBlock[s].hash]}]
  /\ IF /\ phase[s] = Proposing
        /\ Cardinality(prepareMessages'[s]) >= PrepareQuorum(ValidatorsAt(currentHeight[s]))
     THEN phase' = [phase EXCEPT ![s] = Prepared] /\ SendAll(Commits(s))
     ELSE UNCHANGED <<phase, messages>>
  /\ UNCHANGED <<currentHeight, currentRound, proposedBlock, commitMessages, rcVars, heightVars,
                 latchVars, validatorVars, crashVars>>

\* What the others do is not logged. Without losses and crashes it is what they should do.
OtherTimer(s) == s # Logged /\ BlockTimerExpiry(s)
OtherMessage(s, m) ==
  /\ s # Logged
  /\ HandleProposal(s, m) \/ HandlePrepare(s, m) \/ HandleRoundChange(s, m)

LogNext ==
  \/ Next
  \/ \E s \in Server : OwnPrepare(s) \/ OtherTimer(s)
  \/ \E m \in DOMAIN messages : OtherMessage(m.mdest, m)
==============================================================================

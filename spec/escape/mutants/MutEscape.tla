------------------------------ MODULE MutEscape ------------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says the property
   that must find it.
   B.. are entries of the museum of real bugs; the others are tags of `CHECK` in the spec.      *)
EXTENDS MCEscape

\* B47, #7923: the route that a slave knows is the one of before its master died.
B47Asks(m) == FALSE
\* B48, #7601: what is tried again goes to the slave's own log.
B48MayPutHere(r) == r \in failed
\* All masters are alike.
LocalFirstTargets == known
\* The real message is put, not the half.
StaysHalfShows(r) == TRUE
\* Progress goes with what is sent.
SentMayPass(r) == r \in heard \cup op \/ IsUnder(r)
\* TransactionalMessageServiceImpl.check passes a half that could not be put eleven times; B47 drops a timer's
\* message after three.
SkipsMayPass(r) == r \in heard \cup op \cup failed
\* The progress of what is under way is written down.
EarlyWritten == IF under = {} THEN progress ELSE progress + 1
\* Who has a half message shows it before its producer has said so.
UnaskedIsCommitted(h) == ended[h] # "rollback"
\* EscapeBridge.putMessageToSpecificQueue takes the queue from a hash, modulo how many there are at present.
MeetsMayHold(p, m) == Targets # {} /\ m = CHOOSE x \in Targets : TRUE
MeetsMayAck(p, m) == Targets # {} /\ m = CHOOSE x \in Targets : TRUE
\* Before RIP-32 keys of check points and ACKs had no broker's name: those of two brokers may be the same.
NamesCancels(p, m) == \E q \in Pop : m \in ackAt[q]
\* AckMessageProcessor answers a consumer alike whether its ACK was stored or not.
ToldMayAccept(p) == ckAt[p] # None
=============================================================================

--------------------------- MODULE MCDLedgerInPart ---------------------------
(* Each step of DLedger is one of DLedgerInPart, whoever is not looked at: TLC checks it in finite
   models.                                                                                       *)
EXTENDS MCDLedger

Part(H) == INSTANCE DLedgerInPartProperties WITH Hidden <- H

SomeHidden == (SUBSET Node) \ {{}, Node}
InPart == [][\A H \in SomeHidden : Part(H)!Next]_vars
\* What is said there in other words is the same.
SaysTheSame == \A H \in SomeHidden : Part(H)!RaftLogMatching <=> RaftLogMatching
AgreedMayBeHeld == \A H \in SomeHidden : Part(H)!AgreedMayBeHeld
=============================================================================

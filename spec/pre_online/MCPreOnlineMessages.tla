------------------------- MODULE MCPreOnlineMessages -------------------------
(* Each step of PreOnline is one of PreOnlineMessages: TLC checks it in a finite model.           *)
EXTENDS MCPreOnline

Messages == INSTANCE PreOnlineMessagesProperties

InMessages == [][Messages!Next]_vars
\* What is said there in other words is the same.
SaysTheSame == (Messages!TypeOK <=> TypeOK) /\ (Messages!PreOnlineAll <=> PreOnlineAll)
=============================================================================

--------------------- MODULE PreOnlineMessagesProperties ---------------------
(* What PreOnline promises, of traces in which brokers say something, too.                        *)
EXTENDS PreOnlineMessages

Q == INSTANCE PreOnlineProperties

TypeOK == Q!TypeOK
PreOnlineAll == Q!PreOnlineAll
=============================================================================

------------------------------- MODULE AckedLog -------------------------------
(* What a user of a broker group may rely on: one log of acknowledged messages, only ever appended
   to, and whoever reads later reads all of it, in order.

   Producers and consumers hear of prefixes of the log: `acked` is the longest whose last message
   was acknowledged, `seen` the longest that a consumer was shown.  The service comes and goes; when
   it is up it serves a log that begins with both.  A service that forgot an acknowledged message,
   or has another one in its place, does not implement this module.

   Modelled: promises to producers and consumers, a service that is away for a time.
   Not modelled: replicas, elections, several queues, when the service comes back (ReplicaGroup says
   more), a message whose producer heard nothing: it may be in the log.

   Conventions: a log is a sequence of records, and what a record is does not matter.
   Source: none in the code; ReplicaGroup implements it.                                          *)
EXTENDS Prefixes

VARIABLES
  acked,       \* the longest log whose last message was acknowledged
  seen,        \* the longest log that a consumer has seen
  serving      \* [up: whether there is a service, log: what it would serve]

vars == <<acked, seen, serving>>

\* What was promised is served whenever anything is.
Keeps(service) ==
  service.up => IsPrefix(acked, service.log) /\ IsPrefix(seen, service.log)

-----------------------------------------------------------------------------
Init == acked = <<>> /\ seen = <<>> /\ Keeps(serving)

\* A message is acknowledged, and with it all before it.
Acknowledge ==
  /\ IsPrefix(acked, acked')
  /\ Keeps(serving)'
  /\ UNCHANGED <<seen, serving>>

\* A consumer reads on.
Read ==
  /\ IsPrefix(seen, seen')
  /\ Keeps(serving)'
  /\ UNCHANGED <<acked, serving>>

\* The service goes, comes back, or takes another message.
Serve ==
  /\ Keeps(serving)'
  /\ UNCHANGED <<acked, seen>>

Next == Acknowledge \/ Read \/ Serve

Spec == Init /\ [][Next]_vars
=============================================================================

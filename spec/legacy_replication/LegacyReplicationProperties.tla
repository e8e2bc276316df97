--------------------- MODULE LegacyReplicationProperties ----------------------
(* What LegacyReplication promises: invariants, each with what happens else; situations that must be
   reachable; what fair brokers come to.                                                         *)
EXTENDS LegacyReplication

TypeOK ==
  /\ up \in [Broker -> BOOLEAN]
  /\ inc \in [Broker -> Nat]
  /\ begin \in [Broker -> Nat] /\ begin[Master] = 0
  /\ log \in [Broker -> Seq(Nat)]
  /\ flushed \in [Broker -> Nat]
  /\ \A w \in waiting : w \in [o : Nat, need : Needs]
  /\ stale \in [Slave -> Seq(StaleEnd)]
  /\ \A s \in Slave : link[s] = NoLink \/ link[s] \in Link
  /\ \A r \in acked : r \in [o : Nat, i : Nat, need : Needs]
  /\ \A s \in Slave : \A x \in lost[s] : x \in [o : Nat, i : Nat]
  /\ ahead \subseteq Slave

-----------------------------------------------------------------------------
\* ---- Invariants: structure ----

FlushedLeLog == \A b \in Broker : begin[b] <= flushed[b] /\ flushed[b] <= End(b)

\* Else a connection outlives an end of it.
LinkRoles ==
  \A s \in Slave :
    /\ link[s].held => up[s]
    /\ Served(s) \/ stale[s] # <<>> => up[Master]

\* Else a producer waits for a message that is not in the log, or twice for one.
WaitingInLog ==
  /\ \A w \in waiting : w.o < Len(log[Master]) /\ log[Master][w.o + 1] = inc[Master]
  /\ \A v, w \in waiting : v.o = w.o => v = w

\* Else the slave refuses a batch, and each one after it.
BatchContinues ==
  \A s \in Slave : link[s].held => \A k \in DOMAIN link[s].down :
    link[s].down[k].offset =
      IF k > 1 THEN link[s].down[k - 1].offset + Len(link[s].down[k - 1].recs)
      ELSE IF End(s) = 0 THEN link[s].down[k].offset ELSE End(s)

\* Else a message that the slave has is never counted.
ReportedIsEnd == \A s \in Slave : link[s].held => link[s].reported = End(s)

\* ---- Invariants: safety ----

Has(b, o, i) == begin[b] <= o /\ o < End(b) /\ log[b][o - begin[b] + 1] = i

\* Else a report acknowledges messages that were not even written.
AckLeMax == \A s \in Slave : \A k \in DOMAIN Ends(s) : Ends(s)[k].ack <= Len(log[Master])

\* Else a slave counts although it has said that it does not have the record.
AckSound ==
  \A s \in Slave : Served(s) /\ link[s].ack # -1 => AckOf(s, Ends(s)) <= End(s)

\* Else master and slave keep different bytes at one offset.  It is not promised for slaves that
\* have what a power cut took from the master.
PrefixOfMaster ==
  \A s \in Slave \ ahead :
    /\ End(s) <= Len(log[Master])
    /\ log[s] = SubSeq(log[Master], begin[s] + 1, End(s))

\* Else a producer that waited for slaves heard that they have its message, and they never had.
\* A power cut may have taken it from them since; nothing is promised of slaves that were ahead.
AckedOnSlaves ==
  \A r \in acked :
    Cardinality({s \in Slave : \/ Has(s, r.o, r.i)
                               \/ [o |-> r.o, i |-> r.i] \in lost[s]
                               \/ s \in ahead}) >= r.need

\* Else a producer hears that nobody knows, although enough slaves have reported its message; or
\* PUT_OK, although they have not.
AnswerExact ==
  [][\A w \in waiting \ waiting' : inc'[Master] = inc[Master] =>
       (Acknowledged(w.o) >= w.need)
         = ([o |-> w.o, i |-> inc[Master], need |-> w.need] \in acked')]_vars

\* No slave was ever ahead: holds only if the master sends nothing that its disk may lose.
NoneAhead == ahead = {}

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

NoAckByTwo == \A r \in acked : r.need < 2
NoLateBegin == \A s \in Slave : begin[s] = 0    \* a slave began at the master's last file
NoRefusedReport ==          \* a slave reports more than the master has
  \A s \in Slave : Served(s) => AcceptsReport(s, link[s].reported)
NoFork ==                   \* a slave that is served has a record that its master does not have
  \A s \in Slave : Served(s) /\ link[s].next # -1 =>
    \A o \in begin[s]..(End(s) - 1) : log[s][o - begin[s] + 1] = log[Master][o + 1]
NoAckOfFork ==              \* PUT_OK for a message that no slave ever had
  \A r \in acked : \E s \in Slave :
    Has(s, r.o, r.i) \/ [o |-> r.o, i |-> r.i] \in lost[s]
NoAckedLoss == \A r \in acked : Has(Master, r.o, r.i)   \* the master lost a message after PUT_OK
NoCopyLeft ==               \* neither has anybody else a message after PUT_OK
  \A r \in acked : \E b \in Broker : Has(b, r.o, r.i)
NoStaleCount ==             \* a slave counts by a connection that it has given up
  \A s \in Slave : ~link[s].held => AckOf(s, Ends(s)) <= 0

-----------------------------------------------------------------------------
\* ---- Liveness ----

Useless(s) == link[s].held /\ ~link[s].served                                     \* CHECK NoticeClosed

Fairness ==
  /\ \A b \in Broker : WF_vars(Restart(b))
  /\ \A s \in Slave :
       /\ WF_vars(Connect(s, TRUE)) /\ WF_vars(ReceiveTransfer(s))
       /\ WF_vars(ReceiveReport(s, link[s].reported) /\ link'[s].ack > link[s].ack)
       /\ SF_vars(\E n \in 1..Len(log[Master]) : Transfer(s, n, TRUE))   \* a heartbeat may fill a finite link
       /\ WF_vars(RefuseReport(s, link[s].reported))
       /\ WF_vars(Useless(s) /\ Disconnect(s, TRUE))

FairSpec == Spec /\ Fairness

\* Once power cuts end, every slave that was not ahead of its master has the master's log end.
CatchUpLive ==
  \A s \in Slave :
    <>[][inc' = inc]_vars /\ [](s \notin ahead) => <>[](End(s) = Len(log[Master]))

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ AckLeMax /\ PrefixOfMaster /\ AckedOnSlaves)
===============================================================================

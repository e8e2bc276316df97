-------------------------- MODULE MutEpochTruncation --------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says which
   operator of the spec each one replaces, and the property that must find it.
   B.. are entries of the museum of real bugs; the others are tags of `CHECK` in the spec.      *)
EXTENDS MCEpochTruncation

\* B01, apache/rocketmq#9942: currentReceivedEpoch survives the reconnect that truncates the cache.
B01ReceivedAfterHandshake(s, q) == received[s]

\* B02, #9689: a master elected again appends an epoch, but open connections keep what they cached.
B02RefreshedLink(l, q) == l

\* B03: an epoch that begins where the empty previous one began is refused.
B03AppendEpoch(q, e, s) ==
  IF q # <<>> /\ (q[Len(q)].e >= e \/ q[Len(q)].s >= s) THEN q
  ELSE WithEnds(Append(q, [e |-> e, s |-> s, end |-> -1]))

\* The same, but a broker that becomes master with a part of its log not dispatched looks for the end
\* of its log first and cuts its epoch cache there: then the empty epoch goes, and the new one stays.
LateDispatchBecomeMaster(b) ==
  /\ role[b] # "Down"
  /\ ctl.master = b
  /\ known[b] < ctl.epoch

  /\ \E cuts \in BOOLEAN :
       LET old == TruncateSuffixByEpoch(epochs[b], ctl.epoch)
           left == IF cuts THEN SelectSeq(old, LAMBDA x : x.s < Len(log[b])) ELSE old
           q == AppendEpoch(left, ctl.epoch, Len(log[b]))
       IN /\ epochs' = [epochs EXCEPT ![b] = q]
          /\ epochsDisk' = [epochsDisk EXCEPT ![b] = StoredEpochs(@, q)]
          /\ link' = [s \in Broker |-> IF s = b THEN NoLink
                                       ELSE IF Linked(s, b) THEN RefreshedLink(link[s], q)
                                       ELSE link[s]]
  /\ role' = [role EXCEPT ![b] = "Master"]
  /\ known' = [known EXCEPT ![b] = ctl.epoch]
  /\ received' = [received EXCEPT ![b] = 0]
  /\ flushed' = [flushed EXCEPT ![b] = FlushedAtBecomeMaster(b)]
  /\ acted' = acted + 1
  /\ UNCHANGED <<ctl, inc, log, disk>>

\* B04: the end of the new last entry is removed from a copy.
B04TruncateSuffixByOffset(q, o) == SelectSeq(q, LAMBDA x : x.s < o)

\* 5.4.0 and later: the cut log is compared with where it was cut, so the cache is never cut.
KeptEpochsTruncateSuffixByOffset(q, o) == q

\* B05: the header is built after the sender has gone to the next epoch.
B05BatchEntry(m, cur, next, n) ==
  IF cur.end # -1 /\ next + n = cur.end /\ cur.end < Len(log[m])
  THEN EpochAt(epochs[m], cur.end) ELSE cur

\* 5.3.3, 5.5.0: what a sender has cached of its epoch stays until it has a record of the next one to
\* send; a heartbeat at the border names the old epoch (AutoSwitchHAConnection.transferToSlave).
LateBorderTransfer(m, s, n) ==
  /\ Explored("Transfer", s)
  /\ Linked(s, m)
  /\ link[s].next # -1
  /\ link[s].cur # NoEntry
  /\ LET l == link[s]
         q == epochs[m]
         I == {i \in DOMAIN q : q[i].e = l.cur.e /\ l.cur.end = -1}
         cur == IF I = {} THEN l.cur ELSE q[MinOf(I)]
         limit == IF cur.end = -1 THEN Len(log[m]) ELSE Min(cur.end, Len(log[m]))
         AtBorder == cur.end # -1 /\ l.next + n = cur.end /\ cur.end < Len(log[m])
     IN /\ n \in 0..(limit - l.next)
        /\ \E goes \in {FALSE, AtBorder} :
             LET after == IF goes THEN q[MinOf({i \in DOMAIN q : q[i].e > cur.e})] ELSE cur
                 entry == IF n = 0 THEN after ELSE IF goes THEN BatchEntry(m, cur, l.next, n) ELSE cur
                 batch == [type |-> "Transfer", epoch |-> entry.e, start |-> entry.s,
                           offset |-> l.next, recs |-> SubSeq(log[m], l.next + 1, l.next + n)]
             IN link' = [link EXCEPT ![s].down = Append(@, batch),
                                     ![s].next = l.next + n,
                                     ![s].cur = after]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, acted>>

\* B06: an empty cache is not written, so the old file stays.
B06StoredEpochs(old, q) == IF q = <<>> THEN old ELSE Starts(q)

\* B07, #10666: truncation moves positions in memory; the records stay on the disk.
B07TruncatedDisk(d, o) == d

\* B10: a broker that restarts hears that it is still master of the same epoch, and starts it anew.
B10KnownAtRestart(q) == 0

\* B11: a slave follows whoever has the address of the master.
B11MayFollow(s, epoch) == TRUE

\* B83: nothing cuts the epoch cache to the log at start-up.
B83RecoverEpochs(q, end) == WithEnds(q)

\* B86: the epoch file is rewritten in place and not synced before the first record of the epoch.
B86SurvivingEpochs(file) == {file, IF file = <<>> THEN file ELSE Prefix(file, Len(file) - 1)}

\* The consistent point is the end of the slave's own epoch, wherever the master's ends.
MinEndNearerEnd(a, b) == a

StartComparedSameStart(x, y) == x.e = y.e
ReportOwnEndReportAfterTruncate(cp, end) == cp
FlushBeforeEpochFlushedAtBecomeMaster(b) == flushed[b]
KeptLinkMayKeepLink(s) == TRUE
MasterAnswersMayAnswer(m) == TRUE
OffsetContinuesContinues(p, q) == TRUE
KnownFollowsBatchKnownAfterBatch(s, epoch) == known[s]
NoticeUselessUseless(s) == link[s] # NoLink /\ ~link[s].open
=============================================================================

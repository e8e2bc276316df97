------------------------- MODULE MutLegacyReplication -------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says which
   operator of the spec each one replaces, and the property that must find it.
   B.. are entries of the museum of real bugs; the others are tags of `CHECK` in the spec.      *)
EXTENDS MCLegacyReplication

\* B52, apache/rocketmq#3015: 5.x takes any report, which the 4.9 branch does not.
B52AcceptsReport(s, a) == TRUE

\* #3016, the repair in 4.9.x: it does not look at the first report of a connection, and that is the
\* one that can be too large.
FirstReportAcceptsReport(s, a) == (link[s].held /\ link[s].ack = -1) \/ a <= Len(log[Master])

\* B23: GroupTransferService counts connections, and two may be of one slave.
B23Acknowledged(o) ==
  Cardinality(UNION {{<<s, k>> : k \in {j \in DOMAIN Ends(s) : Ends(s)[j].ack > o}} : s \in Slave})

\* The code goes to its last file, whoever waits for what is before it.
StartCoversWaitingStartForEmpty == LastFile

\* Any connection of a slave counts, the best one first.
NewestCountsAckOf(s, ends) == MaxOf({-1} \cup {ends[k].ack : k \in DOMAIN ends})

\* CommitLog.handleHA of 5.x: inSyncReplicas = 1, the default, is PUT_OK at once, SYNC_MASTER or not.
SyncWaitsSlavesToWaitFor(need) == need - 1

\* A producer whose time is up hears FLUSH_SLAVE_TIMEOUT, whatever slaves have reported by then.
TimeoutLacksLacks(w) == TRUE

OffsetContinuesContinues(s, p) == TRUE
NoticeClosedUseless(s) == FALSE
=============================================================================

----------------------------- MODULE MutPreOnline -----------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says the property
   that must find it.
   B.. are entries of the museum of real bugs; the others are tags of `CHECK` in the spec.      *)
EXTENDS MCPreOnline

\* B48, #7601: a slave that acts copies the master's table.
B48MayCopy(s) == TRUE
\* B48, #7577: a slave copies the table, and keeps its version.
B48VersionCopiedVersion(s) == version[s]
\* B49, #9711: no commit moves the version, and the one that a broker starts with is of the time of its
\* start.
B49IsCounted(b) == FALSE
B49IsTaken(s) == version[s] > version[Master]
\* B50: progress is an index into a list that is made anew.
B50IsComplete == asked /\ Cardinality(members) <= Cardinality(done)
\* B51, #9984: a slave deletes all that it has before it puts what the master has.
B51Copied(s) == {Put(table[s], table[Master]), NoTable}
\* B76, #1094, and skipPreOnline: a master serves at once.
B76IsComplete == TRUE

\* The processors of a broker do not ask whether it is isolated.
ServingTakesCommits(b) == serves[b] \/ (b = Master /\ isolated)
IsolatedMayRegister(b) == TRUE
\* A slave that has heard that the master is gone waits until one comes back.
ForgottenMayLearn(s) == FALSE
\* GET_ALL_CONSUMER_OFFSET is answered in isolation, too.
GivesMayBeCopied == TRUE
\* A slave that does not answer is waited for, although it is gone.
AgainMayAsk == ~asked
\* BrokerPreOnlineService goes through all of the answer, its own entry too.
ItselfMembersOf(brokers) == brokers
\* HAConnectionStateNotificationService looks at the host: all are on one.
HostIsConnected(s) == \E t \in Slave : link[t] = "transfer"
TransferIsConnected(s) == link[s] # "none"
\* BrokerPreOnlineService.syncMetadataReverse compares the versions of two tables.
VersionsMerged(s) == ByVersion(s)
\* Whatever a slave has is taken.
ComparedMerged(s) == Put(table[Master], table[s])
\* BrokerPreOnlineService goes through one answer to its end.
FreshAsksAgain == FALSE
\* "Newer" as larger.
TiesIsTaken(s) == version[s] > version[Master]
=============================================================================

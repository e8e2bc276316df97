------------------------------ MODULE MutDLedger ------------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says which
   operator of the spec each one replaces, and the property that must find it.
   B.. are entries of the museum of real bugs; the others are tags of `CHECK` in the spec, several of
   them what DLedger does at d054548 (README).                                                   *)
EXTENDS MCDLedger

\* ---- Elections ----

\* B60, openmessaging/dledger#52: a follower took the term that it was in for that of its last entry.
B60EndTerm(n) == IF End(n) = base[n] THEN baseTerm[n] ELSE term[n]
ShorterLogRefusesLog(m, a) == "ACCEPT"
OneVoteHasVoted(m, a) == FALSE
\* It votes in a term that it is not in.
TermNotReadyIsReady(m, a) == TRUE
\* DLedger: changeRoleToLeader looks at the term, and not at what was heard meanwhile.
PassedStaleMayLead(n) == TRUE
\* B70: the result of a round before outlives a time as follower.
B70NextAsFollower(m) == next[m]
\* B63, openmessaging/dledger#247: a larger term is looked at when no majority answers, and only then.
B63GivesWay(n, m) ==
  term[m] > term[n] /\ ~Quorum({k \in Node : leader[k] = n /\ term[k] = term[n]})
\* B64, openmessaging/dledger#85 and #325: logs are compared before terms, so nobody hears of the term of a
\* node whose log is short.
B64GivesWay(n, m) == term[m] > term[n] /\ RefusesLog(n, AskOf(m)) = "ACCEPT"
\* B67, openmessaging/dledger#282: requests wait in a queue that followers alone empty.
B67Answers(m) == role[m] # "Candidate"
\* A leader waits for ever for the answer of a transferee that is gone.
TransferEndsMayGoOn(n) == FALSE
\* B71: the file of the vote is not synchronized.
B71VoteAfterCrash(n) == None
\* DLedger: a restarted node asks for votes in the term that it was in, and its voters vote again.
SameTermNextAfterCrash(n) == FALSE

\* A node that has thrown its log away votes like anybody else.
RefilledMayVote(m) == TRUE
\* It votes as soon as it has an entry of the leader that it had.
DiscardTermTermAfterDiscard(n) == term[n]

\* ---- Logs ----

\* DLedger counts what it has, whether it is synchronized or not,
OwnSyncOwnIndex(n) == End(n)
\* as its followers do.
SyncedAckAckIndex(m) == same[m]
CommitQuorumIsHeld(n, i) == Holders(n, i) # {}
CommitOwnTermMayCommit(n, i) == TRUE
\* DLedger: COMPARE, TRUNCATE and COMMIT are taken from whoever sends them.
OldLeaderIsOfLeader(m, from, t) == role[m] = "Follower"
\* DLedger: TRUNCATE cuts whatever is there.
LateTruncateMayCut(m, r) == TRUE
\* DLedger: where terms differ, the next COMPARE is before the first entry of the follower's term.
FastBackupIsLastMatch(m, q, i) ==
  LET k == Min(End(m), Len(q))
      xIndex == MinOf({j \in (base[m] + 1)..k : TermAt(m, j) = TermAt(m, k)})
  IN IF k = 0 \/ Has(m, k, q[k].term) THEN i = k
     ELSE i = MaxOf({j \in Matches(m, q) : j < xIndex})
\* B66, openmessaging/dledger#142: where the answer to COMPARE is no, the leader waits for another one.
B66IsLastMatch(m, q, i) == i = Len(q)
\* B65, openmessaging/dledger#61: what a follower has only grows, so it is compared once.
B65MayCompare(m) == ~\E a \in acks : a.from = m /\ a.term = term[m]
\* No late request: nothing is cut that this leader has found to be there.
FastBackupMayCut(m, r) == r.index = same[m] + 1
TruncationDurableSyncedAfterCut(m, i) == synced[m]
ComparedFirstMayAppend(m) == TRUE
\* B61, openmessaging/dledger#278: the leader's index is taken as it is.
B61CommitBound(m) == MaxOf({l.commit : l \in sent})
\* B62, openmessaging/dledger#316: as far as there is a log; a cut leaves the index as it is.
B62CommitBound(m) == End(m)
\* DLedger: what the follower has counts, whoever wrote it.
CommitSameCommitBound(m) == End(m)

\* ---- Snapshots ----

\* B68, openmessaging/dledger#236: the disk cleaner runs beside the state machine.
B68CutTo(n) == applied[n]
\* B59: the boundary is forgotten.
B59BaseTermOfCut(n, i) == 0
InstallFreshIsFresh(m, i) == TRUE
\* B54: there is no install.
B54MayInstall(m) == FALSE
\* B58: the commit index is the leader's business.
B58CommitAfterInstall(m, i) == commit[m]
\* A node starts with the entries that are left, although its snapshot has more.
SnapshotStaysLeft(n, k) == k
=============================================================================

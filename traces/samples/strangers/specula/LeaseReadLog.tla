---------------------------- MODULE LeaseReadLog ----------------------------
(* Logs of etcd's tests of raft: a server starts with what a line says, some lines are one of two
   steps, and a message may take several steps before it is gone.                                 *)
EXTENDS etcdraft

\* The messages of a server that were not sent yet, without a fold over a bag.
LogPendingMessages(i) ==
  [m \in {m \in DOMAIN pendingMessages : m.msource = i} |-> pendingMessages[m]]

\* A server starts with n entries that are applied; the last of them made the others members.
LOCAL StartWith(i, n, term, members, learning) ==
  LET entry == [term |-> 1, type |-> ConfigEntry,
                value |-> [newconf |-> members, learners |-> learning]]
      history == [k \in 1..n |-> entry]
  IN  /\ currentTerm[i] = 0 /\ log[i].entries = <<>>
      /\ log' = [log EXCEPT ![i] = [offset |-> 1, entries |-> history, snapshotIndex |-> n,
                                    snapshotTerm |-> term]]
      /\ historyLog' = [historyLog EXCEPT ![i] = history]
      /\ commitIndex' = [commitIndex EXCEPT ![i] = n]
      /\ applied' = [applied EXCEPT ![i] = n]
      /\ appliedConfigIndex' = [appliedConfigIndex EXCEPT ![i] = n]
      /\ config' = [config EXCEPT ![i] = [jointConfig |-> <<members, {}>>, learners |-> learning,
                                          autoLeave |-> FALSE]]
      /\ durableState' = [durableState EXCEPT ![i].commitIndex = n, ![i].config = config'[i]]
      /\ UNCHANGED <<messageVars, serverVars, candidateVars, leaderVars, reconfigCount,
                     progressVars, partitions>>

Start(i, n, term, members) == StartWith(i, n, term, members, {})
StartLearning(i, n, term, members, learning) == StartWith(i, n, term, members, learning)

\* A line that a server is a follower is a part of receiving, too.
Follow(i) == StepDownToFollower(i) \/ (state[i] = Follower /\ UNCHANGED vars)

\* The leader answers itself for an entry that it has, or that it appends by itself.
AnswerItself(i) == AppendEntriesToSelf(i) \/ ReplicateImplicitEntry(i)

ApplyConf(i, members) ==
  \/ ApplySimpleConfChange(i)
  \/ log[i].offset > commitIndex[i] /\ ApplySnapshotConfChange(i, members)

\* The entry has what the changes make of the leader's configuration.
ProposeChanges(i, changes, joint) ==
  LET after[k \in 0..Len(changes)] ==
        IF k = 0 THEN [voters |-> GetConfig(i), learners |-> GetLearners(i)]
        ELSE ApplyChange(changes[k], after[k - 1])
      then == after[Len(changes)]
  IN  /\ state[i] = Leader /\ ~IsJointConfig(i)
      /\ Replicate(i, [newconf |-> then.voters, learners |-> then.learners, enterJoint |-> joint,
                       oldconf |-> GetConfig(i)], ConfigEntry)
      /\ pendingConfChangeIndex' = [pendingConfChangeIndex EXCEPT ![i] = LastIndex(log'[i])]
      /\ UNCHANGED <<messageVars, serverVars, candidateVars, matchIndex, commitIndex, applied,
                     configVars, durableState, progressVars, partitions>>

\* The leader sends a message that says what the line says.
LOCAL Sends(subtype, i, j, before, term, commit) ==
  \E m \in DOMAIN pendingMessages' :
    /\ m.mtype = AppendEntriesRequest /\ m.msubtype = subtype /\ m.msource = i /\ m.mdest = j
    /\ m.mprevLogIndex = before /\ m.mprevLogTerm = term /\ m.mcommitIndex = commit
    /\ m \in DOMAIN pendingMessages => pendingMessages'[m] > pendingMessages[m]
SendEntries(i, j, range, term, commit) ==
  AppendEntries(i, j, range) /\ Sends("app", i, j, range[1] - 1, term, commit)
SendHeartbeat(i, j, commit) == Heartbeat(i, j) /\ Sends("heartbeat", i, j, 0, 0, commit)

LOCAL Entries(m) == IF "mentries" \in DOMAIN m THEN Len(m.mentries) ELSE 0

\* What etcd calls a message.
LOCAL Kind(m) ==
  CASE m.mtype = AppendEntriesRequest -> IF m.msubtype = "heartbeat" THEN "MsgHeartbeat" ELSE "MsgApp"
    [] m.mtype = AppendEntriesResponse ->
         IF m.msubtype = "heartbeat" THEN "MsgHeartbeatResp" ELSE "MsgAppResp"
    [] m.mtype = RequestVoteRequest -> "MsgVote"
    [] m.mtype = RequestVoteResponse -> "MsgVoteResp"
    [] m.mtype = SnapshotRequest -> "MsgSnap"

\* A server takes a step because of a message, and has not answered it yet, or has: it is gone.
ReceivePart(m, kind, n) ==
  kind = Kind(m) /\ n = Entries(m) /\ Receive(m) /\ UNCHANGED messages
ReceiveLast(m, kind, n) ==
  kind = Kind(m) /\ n = Entries(m) /\ Receive(m) /\ messages' # messages

LogNext ==
  \/ NextDynamic
  \/ \E i \in Server, n \in 0..100, term \in 0..1, members \in SUBSET Server :
       \/ Start(i, n, term, members)
       \/ \E learning \in SUBSET Server : StartLearning(i, n, term, members, learning)
  \/ \E i \in Server : Follow(i) \/ AnswerItself(i)
  \/ \E i \in Server, members \in SUBSET Server : ApplyConf(i, members)
  \/ \E i \in Server, joint \in BOOLEAN :
       \E changes \in Seq([nid : Server, action : {"AddNewServer", "RemoveServer", "AddLearner"}]) :
         ProposeChanges(i, changes, joint)
  \/ \E i \in Server : \E n \in 1..commitIndex[i] : ApplyEntries(i, n)
  \/ \E i \in Server : \E n \in 1..(applied[i] + 1) : CompactLog(i, n)
  \/ \E i, j \in Server : \E n \in 0..applied[i] : SendSnapshotWithCompaction(i, j, n)
  \/ \E i, j \in Server : ManualSendSnapshot(i, j)
  \/ \E i, j \in Server : \E commit \in 0..commitIndex[i] :
       \/ SendHeartbeat(i, j, commit)
       \/ \E b, e \in (matchIndex[i][j] + 1)..(LastIndex(log[i]) + 1), term \in 0..currentTerm[i] :
            SendEntries(i, j, <<b, e>>, term, commit)
  \/ \E m \in DOMAIN messages : \E kind \in {Kind(m)}, n \in {Entries(m)} :
       ReceivePart(m, kind, n) \/ ReceiveLast(m, kind, n)
=============================================================================

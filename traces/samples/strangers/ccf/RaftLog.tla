------------------------------- MODULE RaftLog -------------------------------
(* CCF's consensus specification for its logs: messages as the log writes them, lines on which
   nothing happens, and messages that the network loses. Everything else is a step of ccfraft.   *)
EXTENDS ccfraft

\* As many entries in a message as there are.
LogBatch(i, j) == sentIndex[i][j] .. Len(log[i])

\* A message as the log writes it.
Packet(m) ==
  CASE m.type = AppendEntriesRequest ->
         [msg |-> "raft_append_entries", term |-> m.term, prev_idx |-> m.prevLogIndex,
          prev_term |-> m.prevLogTerm, idx |-> m.prevLogIndex + Len(m.entries),
          leader_commit_idx |-> m.commitIndex]
    [] m.type = AppendEntriesResponse ->
         [msg |-> "raft_append_entries_response", term |-> m.term, last_log_idx |-> m.lastLogIndex,
          success |-> IF m.success THEN "OK" ELSE "FAIL"]
    [] m.type = RequestVoteRequest ->
         [msg |-> "raft_request_vote", term |-> m.term,
          last_committable_idx |-> m.lastCommittableIndex,
          term_of_last_committable_idx |-> m.lastCommittableTerm]
    [] m.type = RequestVoteResponse ->
         [msg |-> "raft_request_vote_response", term |-> m.term, vote_granted |-> m.voteGranted]
    [] m.type = ProposeVoteRequest ->
         [msg |-> "raft_propose_request_vote", term |-> m.term]

\* [to][from]: the message that is received next, and the one that was sent last; <<>> for none.
NextTo(to, from) ==
  LET found == Network!MessagesTo(to, from)
  IN  IF found = {} THEN <<>> ELSE Packet(CHOOSE m \in found : TRUE)
Arriving == [to \in Servers |-> [from \in Servers |-> NextTo(to, from)]]
Sent == [to \in Servers |-> [from \in Servers |->
  LET mine == SelectSeq(messages[to], LAMBDA m : m.source = from)
  IN  IF mine = <<>> THEN <<>> ELSE Packet(Last(mine))]]

Members == [i \in Servers |-> IF configurations[i] = <<>> THEN <<>>
                              ELSE [n \in MaxConfiguration(i) |-> [address |-> ":"]]]
Membership == [i \in Servers |-> IF membershipState[i] = Active THEN "Active" ELSE "Retired"]
Committables == [i \in Servers |-> {n \in CommittableIndices(i) : n > commitIndex[i]}]
Length == [i \in Servers |-> Len(log[i])]

\* A candidate learns of a leader of its term, and has yet to answer; a request is answered.
FollowLeader(i, j) == RcvAppendEntriesRequest(i, j) /\ UNCHANGED messages
AnswerRequest(i, j) == RcvAppendEntriesRequest(i, j) /\ messages' # messages

\* A line that shows a part of the step before it.
Shown(i) == i \in Servers /\ UNCHANGED vars

\* A leader without a quorum gives up, or the line shows a part of the step before it.
BecomeFollower(i) == CheckQuorum(i) \/ Shown(i)

\* The network loses a message.
Lose(to, from, msg, term) ==
  /\ Network!DropMessage(to, LAMBDA m : m.source = from /\ Packet(m).msg = msg /\ m.term = term)
  /\ UNCHANGED <<preVoteStatus, reconfigurationVars, serverVars, candidateVars, leaderVars, logVars>>

LogNext ==
  \/ Next
  \/ \E i \in Servers : Shown(i) \/ BecomeFollower(i)
  \/ \E i, j \in Servers : FollowLeader(i, j) \/ AnswerRequest(i, j)
  \/ \E i, j \in Servers : \E p \in {Packet(m) : m \in Range(messages[i])} :
       Lose(i, j, p.msg, p.term)
=============================================================================

----------------------------- MODULE Signatures -----------------------------
(* A leader whose entries count when it has signed them: a small specification for logs of our own in
   the form of CCF's consensus traces. Nobody is elected here; a node that hears of a leader's term
   follows it, and a leader without a quorum gives up. Messages are as the log writes them.       *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANT Servers

VARIABLES currentTerm, leadershipState, commitIndex, log, sentIndex, matchIndex, messages

vars == <<currentTerm, leadershipState, commitIndex, log, sentIndex, matchIndex, messages>>
others == <<currentTerm, leadershipState, commitIndex, log>>

Each(value) == [i \in Servers |-> value]

\* Node "0" leads in term 2, with two entries that everybody has to get.
Init ==
  /\ currentTerm = [Each(0) EXCEPT !["0"] = 2]
  /\ leadershipState = [Each("None") EXCEPT !["0"] = "Leader"]
  /\ commitIndex = Each(0)
  /\ log = [Each(<<>>) EXCEPT !["0"] = <<[term |-> 2, signed |-> FALSE], [term |-> 2, signed |-> TRUE]>>]
  /\ sentIndex = Each(Each(0))
  /\ matchIndex = Each(Each(0))
  /\ messages = Each(Each(<<>>))     \* [to][from]

Signed(i) == {n \in DOMAIN log[i] : log[i][n].signed}
Max(set) == CHOOSE n \in set \cup {0} : \A m \in set : m <= n
Min(a, b) == IF a < b THEN a ELSE b
Send(from, to, m) == [messages EXCEPT ![to][from] = Append(@, m)]

Write(i, signed) ==
  /\ leadershipState[i] = "Leader"
  /\ log' = [log EXCEPT ![i] = Append(@, [term |-> currentTerm[i], signed |-> signed])]
  /\ UNCHANGED <<currentTerm, leadershipState, commitIndex, sentIndex, matchIndex, messages>>
ClientRequest(i) == Write(i, FALSE)
SignCommittableMessages(i) == Write(i, TRUE)

AppendEntries(i, j) ==
  /\ leadershipState[i] = "Leader"
  /\ i # j
  /\ \E end \in sentIndex[i][j] .. Len(log[i]) :
       LET start == sentIndex[i][j]
       IN  /\ messages' = Send(i, j,
                [msg |-> "raft_append_entries", term |-> currentTerm[i], prev_idx |-> start,
                 prev_term |-> IF start = 0 THEN 0 ELSE log[i][start].term, idx |-> end,
                 leader_commit_idx |-> commitIndex[i]])
           /\ sentIndex' = [sentIndex EXCEPT ![i][j] = end]
  /\ UNCHANGED <<others, matchIndex>>

\* What a follower appends is what the leader has: entries are not in the message.
AnswerRequest(i, j) ==
  /\ messages[i][j] # <<>>
  /\ LET m == Head(messages[i][j])
         fits == m.prev_idx <= Len(log[i])
         end == IF fits THEN m.idx ELSE Len(log[i])
     IN  /\ m.msg = "raft_append_entries"
         /\ m.term = currentTerm[i]
         /\ log' = [log EXCEPT ![i] = IF fits THEN SubSeq(log[j], 1, end) ELSE @]
         /\ commitIndex' = [commitIndex EXCEPT ![i] =
              IF fits THEN Min(m.leader_commit_idx, Max({n \in 1..end : log[j][n].signed})) ELSE @]
         /\ messages' = [messages EXCEPT ![i][j] = Tail(@), ![j][i] = Append(@,
              [msg |-> "raft_append_entries_response", term |-> m.term, last_log_idx |-> end,
               success |-> IF fits THEN "OK" ELSE "FAIL"])]
  /\ UNCHANGED <<currentTerm, leadershipState, sentIndex, matchIndex>>

RcvAppendEntriesResponse(i, j) ==
  /\ messages[i][j] # <<>>
  /\ LET m == Head(messages[i][j])
     IN  /\ m.msg = "raft_append_entries_response"
         /\ IF m.success = "OK"
              THEN matchIndex' = [matchIndex EXCEPT ![i][j] = m.last_log_idx] /\ UNCHANGED sentIndex
              ELSE sentIndex' = [sentIndex EXCEPT ![i][j] = m.last_log_idx] /\ UNCHANGED matchIndex
  /\ messages' = [messages EXCEPT ![i][j] = Tail(@)]
  /\ UNCHANGED others

AdvanceCommitIndex(i) ==
  LET holders(n) == {j \in Servers : i = j \/ matchIndex[i][j] >= n}
      agreed == {n \in Signed(i) : 2 * Cardinality(holders(n)) > Cardinality(Servers)}
  IN  /\ leadershipState[i] = "Leader"
      /\ Max(agreed) > commitIndex[i]
      /\ commitIndex' = [commitIndex EXCEPT ![i] = Max(agreed)]
      /\ UNCHANGED <<currentTerm, leadershipState, log, sentIndex, matchIndex, messages>>

RcvUpdateTerm(i, j) ==
  /\ messages[i][j] # <<>>
  /\ Head(messages[i][j]).term > currentTerm[i]
  /\ currentTerm' = [currentTerm EXCEPT ![i] = Head(messages[i][j]).term]
  /\ leadershipState' = [leadershipState EXCEPT ![i] = "Follower"]
  /\ UNCHANGED <<commitIndex, log, sentIndex, matchIndex, messages>>

FollowLeader(i, j) ==
  /\ messages[i][j] # <<>>
  /\ leadershipState[i] = "Candidate"
  /\ leadershipState' = [leadershipState EXCEPT ![i] = "Follower"]
  /\ UNCHANGED <<currentTerm, commitIndex, log, sentIndex, matchIndex, messages>>

Shown(i) == i \in Servers /\ UNCHANGED vars
BecomeFollower(i) ==
  \/ Shown(i)
  \/ /\ leadershipState[i] = "Leader"
     /\ leadershipState' = [leadershipState EXCEPT ![i] = "Follower"]
     /\ UNCHANGED <<currentTerm, commitIndex, log, sentIndex, matchIndex, messages>>

Lose(to, from, msg, term) ==
  /\ \E n \in DOMAIN messages[to][from] :
       LET m == messages[to][from][n]
           rest == SubSeq(messages[to][from], 1, n - 1)
                     \o SubSeq(messages[to][from], n + 1, Len(messages[to][from]))
       IN  m.msg = msg /\ m.term = term /\ messages' = [messages EXCEPT ![to][from] = rest]
  /\ UNCHANGED <<others, sentIndex, matchIndex>>

Next ==
  \/ \E i \in Servers :
       \/ ClientRequest(i) \/ SignCommittableMessages(i) \/ AdvanceCommitIndex(i)
       \/ Shown(i) \/ BecomeFollower(i)
  \/ \E i, j \in Servers :
       \/ AppendEntries(i, j) \/ AnswerRequest(i, j) \/ RcvAppendEntriesResponse(i, j)
       \/ RcvUpdateTerm(i, j) \/ FollowLeader(i, j)
       \/ \E n \in DOMAIN messages[i][j] : Lose(i, j, messages[i][j][n].msg, messages[i][j][n].term)

\* What the mapping observes.
Length == [i \in Servers |-> Len(log[i])]
Committables == [i \in Servers |-> {n \in Signed(i) : n > commitIndex[i]}]
Membership == Each("Active")
Members == Each(Each([address |-> ":"]))
Arriving == [to \in Servers |-> [from \in Servers |->
  IF messages[to][from] = <<>> THEN <<>> ELSE Head(messages[to][from])]]
Sent == [to \in Servers |-> [from \in Servers |->
  IF messages[to][from] = <<>> THEN <<>> ELSE messages[to][from][Len(messages[to][from])]]]

CommittedIsSigned == \A i \in Servers : commitIndex[i] \in Signed(i) \cup {0}
=============================================================================

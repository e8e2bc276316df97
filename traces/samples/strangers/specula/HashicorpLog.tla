---------------------------- MODULE HashicorpLog ----------------------------
(* HashiCorp's raft as its logs tell it: a cluster was bootstrapped, goroutines write their lines
   late, and requests of clients are not logged.                                                   *)
EXTENDS hashiraft

LogInit ==
  /\ currentTerm = [s \in Server |-> 1] /\ persistedTerm = [s \in Server |-> 1]
  /\ votedFor = [s \in Server |-> Nil] /\ persistedVotedFor = [s \in Server |-> Nil]
  /\ pendingVote = [s \in Server |-> Nil]
  /\ log = [s \in Server |-> <<[term |-> 1, type |-> ConfigEntry, config |-> Server]>>]
  /\ commitIndex = [s \in Server |-> 0]
  /\ state = [s \in Server |-> Follower]
  /\ nextIndex = [s \in Server |-> [t \in Server |-> 1]]
  /\ matchIndex = [s \in Server |-> [t \in Server |-> 0]]
  /\ votesGranted = [s \in Server |-> {}] /\ leaseContact = [s \in Server |-> {}]
  /\ messages = EmptyBag
  /\ diskBlocked = [s \in Server |-> FALSE]
  /\ committedConfig = [s \in Server |-> Server] /\ latestConfig = [s \in Server |-> Server]

LOCAL Between(type, from, to) ==
  {m \in DOMAIN messages : m.mtype = type /\ m.msource = from /\ m.mdest = to}

\* A line may come after its step: the candidate's vote was asked for, and a match counted, before.
Candidacy(i) ==
  Timeout(i) \/ (state[i] = Candidate /\ votedFor[i] = i /\ UNCHANGED vars)
EarlyTimeout(i, j) == state[j] = Follower /\ Timeout(j)

LOCAL Matched(i, j, n) ==
  {m \in Between(AppendEntriesResponse, j, i) : m.msubtype = "replicate" /\ m.mmatchIndex = n}
ReplicateResponse(i, j, n) ==
  \/ \E m \in Matched(i, j, n) : HandleReplicateResponse(i, m)
  \/ Matched(i, j, n) = {} /\ UNCHANGED vars
EarlyResponse(i, m) == HandleReplicateResponse(i, m)

VoteRequest(i, j) ==
  \E m \in Between(RequestVoteRequest, j, i) : HandleRequestVoteRequestAtomic(i, m)

\* A vote that could not be asked for is logged as an answer.
VoteResponse(i, j) ==
  LET found == Between(RequestVoteResponse, j, i)
  IN  \/ \E m \in found : HandleRequestVoteResponse(i, m) \/ DropStaleMessage(m)
      \/ found = {} /\ UNCHANGED vars

LogNext ==
  \/ Next
  \/ \E i \in Server : Candidacy(i)
  \/ \E i, j \in Server : VoteRequest(i, j) \/ VoteResponse(i, j) \/ EarlyTimeout(i, j)
  \/ \E i, j \in Server : \E n \in 0..LastLogIndex(i) : ReplicateResponse(i, j, n)
  \/ \E m \in DOMAIN messages : EarlyResponse(m.mdest, m)
=============================================================================

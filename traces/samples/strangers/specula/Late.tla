-------------------------------- MODULE Late --------------------------------
(* A candidate asks for votes, and a leader appends and commits what nobody logs: a small
   specification for a log of our own in the form of HashiCorp's, where a line may come late.     *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Server, Nil

VARIABLES currentTerm, state, votedFor, votes, log, commitIndex, matchIndex, messages

vars == <<currentTerm, state, votedFor, votes, log, commitIndex, matchIndex, messages>>

LastLogIndex(s) == Len(log[s])
LastLogTerm(s) == IF log[s] = <<>> THEN 0 ELSE log[s][Len(log[s])]

Init ==
  /\ currentTerm = [s \in Server |-> 0]
  /\ state = [s \in Server |-> "Follower"]
  /\ votedFor = [s \in Server |-> Nil]
  /\ votes = [s \in Server |-> {}]
  /\ log = [s \in Server |-> <<>>]
  /\ commitIndex = [s \in Server |-> 0]
  /\ matchIndex = [s \in Server |-> [t \in Server |-> 0]]
  /\ messages = {}

Timeout(i) ==
  /\ state[i] # "Leader"
  /\ currentTerm' = [currentTerm EXCEPT ![i] = @ + 1]
  /\ state' = [state EXCEPT ![i] = "Candidate"]
  /\ votedFor' = [votedFor EXCEPT ![i] = i]
  /\ votes' = [votes EXCEPT ![i] = {i}]
  /\ UNCHANGED <<log, commitIndex, matchIndex, messages>>

Candidacy(i) == Timeout(i) \/ (state[i] = "Candidate" /\ UNCHANGED vars)
EarlyTimeout(i, j) == state[j] = "Follower" /\ Timeout(j)

\* The vote is given and counted at once.
VoteRequest(i, j) ==
  /\ state[j] = "Candidate" /\ currentTerm[j] > currentTerm[i]
  /\ currentTerm' = [currentTerm EXCEPT ![i] = currentTerm[j]]
  /\ votedFor' = [votedFor EXCEPT ![i] = j]
  /\ votes' = [votes EXCEPT ![j] = @ \cup {i}]
  /\ UNCHANGED <<state, log, commitIndex, matchIndex, messages>>

BecomeLeader(i) ==
  /\ state[i] = "Candidate" /\ 2 * Cardinality(votes[i]) > Cardinality(Server)
  /\ state' = [state EXCEPT ![i] = "Leader"]
  /\ UNCHANGED <<currentTerm, votedFor, votes, log, commitIndex, matchIndex, messages>>

ClientRequest(i) ==
  /\ state[i] = "Leader"
  /\ log' = [log EXCEPT ![i] = Append(@, currentTerm[i])]
  /\ UNCHANGED <<currentTerm, state, votedFor, votes, commitIndex, matchIndex, messages>>

ReplicateEntries(i, j) ==
  /\ state[i] = "Leader"
  /\ messages' = messages \cup {[mterm |-> currentTerm[i], msubtype |-> "replicate",
                                 mlog |-> log[i], msource |-> i, mdest |-> j]}
  /\ UNCHANGED <<currentTerm, state, votedFor, votes, log, commitIndex, matchIndex>>

\* The answer comes with it.
HandleAppendEntriesRequest(i, m) ==
  /\ m.mdest = i /\ m.mterm = currentTerm[i]
  /\ log' = [log EXCEPT ![i] = m.mlog]
  /\ messages' = (messages \ {m}) \cup {[mmatchIndex |-> Len(m.mlog), msource |-> i, mdest |-> m.msource]}
  /\ UNCHANGED <<currentTerm, state, votedFor, votes, commitIndex, matchIndex>>

LOCAL Requests == {m \in messages : "mterm" \in DOMAIN m}
LOCAL Answers == messages \ Requests

EarlyResponse(i, m) ==
  /\ m.mdest = i
  /\ matchIndex' = [matchIndex EXCEPT ![i][m.msource] = m.mmatchIndex]
  /\ messages' = messages \ {m}
  /\ UNCHANGED <<currentTerm, state, votedFor, votes, log, commitIndex>>

ReplicateResponse(i, j, n) ==
  LET m == [mmatchIndex |-> n, msource |-> j, mdest |-> i]
  IN  IF m \in messages THEN EarlyResponse(i, m) ELSE UNCHANGED vars

AdvanceCommitIndex(i) ==
  /\ state[i] = "Leader"
  /\ \E n \in (commitIndex[i] + 1)..Len(log[i]) :
       /\ \E j \in Server : matchIndex[i][j] >= n
       /\ commitIndex' = [commitIndex EXCEPT ![i] = n]
  /\ UNCHANGED <<currentTerm, state, votedFor, votes, log, matchIndex, messages>>

Next ==
  \/ \E i \in Server : Candidacy(i) \/ BecomeLeader(i) \/ ClientRequest(i) \/ AdvanceCommitIndex(i)
  \/ \E i, j \in Server : EarlyTimeout(i, j) \/ VoteRequest(i, j) \/ ReplicateEntries(i, j)
  \/ \E i, j \in Server : \E n \in 0..Len(log[i]) : ReplicateResponse(i, j, n)
  \/ \E m \in Requests : HandleAppendEntriesRequest(m.mdest, m)
  \/ \E m \in Answers : EarlyResponse(m.mdest, m)
=============================================================================

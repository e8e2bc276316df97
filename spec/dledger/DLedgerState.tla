----------------------------- MODULE DLedgerState -----------------------------
(* What DLedger says of a group: its constants, its state, and how it begins.                    *)
EXTENDS Integers, FiniteSets, Sequences, Extrema, Prefixes

CONSTANTS
  Node,        \* the members of the group
  None,        \* stands for "no node"
  Preferred    \* the members that shall lead if they can (preferredLeaderIds)

ASSUME NodeAssumption ==
  /\ IsFiniteSet(Node) /\ Node # {} /\ None \notin Node
  /\ Preferred \subseteq Node

VARIABLES
  \* each node's disk
  term,        \* node -> currTerm
  vote,        \* node -> whom it voted for in this term, or None (currVoteFor)
  refill,      \* node -> of which term or a later one its last entry is before it votes; 0: of any
  log,         \* node -> all entries since the first one, those that are cut from the file included
  synced,      \* node -> how many of them survive any power cut
  base,        \* node -> how many of them are cut (ledgerBeforeBeginIndex)
  baseTerm,    \* node -> the term of the last one that is cut (ledgerBeforeBeginTerm)
  snap,        \* node -> index of its snapshot, which is the state of so many entries; 0: none
  \* each node's memory: who leads
  role,        \* node -> "Leader", "Follower" or "Candidate"
  leader,      \* node -> whom it follows, itself if it leads, or None (leaderId)
  known,       \* node -> the largest term above its own that it has heard of (knownMaxTermInGroup), or 0
  raise,       \* node -> whether it has to go to a larger term first (needIncreaseTermImmediately)
  next,        \* node -> whether its last round says so (WAIT_TO_VOTE_NEXT)
  round,       \* node -> member -> the answer to its present request for votes, or NoAnswer
  taking,      \* node -> the term in which it shall lead for another one (termToTakeLeadership), or 0
  transferee,  \* node -> to whom it is handing its leadership over, or None
  \* each node's memory: what is in the log
  same,        \* node -> up to where its log is that of the leader that it follows, as it knows
  commit,      \* node -> committedIndex
  applied,     \* node -> appliedIndex: the state machine has so many entries
  \* messages: each may come late, more than once, in any order, or never
  asks,        \* set of requests for votes, see Ask
  sent,        \* set: what each leader may have sent of its term, see Leadership
  truncates,   \* set of requests to cut a log, see Truncation
  acks,        \* set of [from, term, index]: the largest one that a node has acknowledged in a term
  transfers,   \* set of requests to take the leadership, see Transfer
  \* history, read by no guard
  inc,         \* node -> number of its power cuts
  agreed       \* the longest log that some leader has committed

diskVars == <<term, vote, refill, log, synced, base, baseTerm, snap>>
electVars == <<role, leader, known, raise, next, round, taking, transferee>>
logVars == <<log, synced, base, baseTerm, snap>>
indexVars == <<same, commit, applied>>
messageVars == <<asks, sent, truncates, acks, transfers>>
vars == <<diskVars, electVars, indexVars, messageVars, inc, agreed>>

-----------------------------------------------------------------------------
\* An entry is who wrote it: the leader of a term, since so many power cuts.
Entry == [term : Nat, by : Node, inc : Nat]

\* The answers to a request for votes (VoteResponse.RESULT).
Results == {"ACCEPT", "REJECT_EXPIRED_LEDGER_TERM", "REJECT_SMALL_LEDGER_END_INDEX",
            "REJECT_EXPIRED_VOTE_TERM", "REJECT_ALREADY_HAS_LEADER", "REJECT_ALREADY_VOTED",
            "REJECT_TERM_NOT_READY", "REJECT_TERM_SMALL_THAN_LEDGER", "REJECT_TAKING_LEADERSHIP"}
Answer == [result : Results, term : Nat]     \* term: of the node, where that is why; else 0
NoAnswer == [result |-> "NONE", term |-> 0]
NoRound == [m \in Node |-> NoAnswer]

Ask == [from : Node, term : Nat, endIndex : Nat, endTerm : Nat]
\* Heartbeats are that there is one; COMPARE and APPEND have an entry of the log, COMMIT an index up to
\* `commit`, INSTALL_SNAPSHOT the state of the first entries up to `snap`.
Leadership == [by : Node, inc : Nat, term : Nat, log : Seq(Entry), commit : Nat, snap : Nat]
Truncation == [from : Node, to : Node, term : Nat, index : Nat, entryTerm : Nat]
Transfer == [from : Node, to : Node, term : Nat, index : Nat]

Init ==
  /\ term = [n \in Node |-> 1] /\ vote = [n \in Node |-> None]
  /\ refill = [n \in Node |-> 0]
  /\ log = [n \in Node |-> <<>>] /\ synced = [n \in Node |-> 0]
  /\ base = [n \in Node |-> 0] /\ baseTerm = [n \in Node |-> 0] /\ snap = [n \in Node |-> 0]
  /\ role = [n \in Node |-> "Candidate"] /\ leader = [n \in Node |-> None]
  /\ known = [n \in Node |-> 0] /\ raise = [n \in Node |-> FALSE] /\ next = [n \in Node |-> FALSE]
  /\ round = [n \in Node |-> NoRound]
  /\ taking = [n \in Node |-> 0] /\ transferee = [n \in Node |-> None]
  /\ same = [n \in Node |-> 0] /\ commit = [n \in Node |-> 0] /\ applied = [n \in Node |-> 0]
  /\ asks = {} /\ sent = {} /\ truncates = {} /\ acks = {} /\ transfers = {}
  /\ inc = [n \in Node |-> 0] /\ agreed = <<>>
=============================================================================

------------------------- MODULE LockQuorumProperties -------------------------
(* What LockQuorum promises: invariants, each with what happens else; situations that must be
   reachable; what fair consumers and brokers come to.                                           *)
EXTENDS LockQuorum

TypeOK ==
  /\ \A r \in Replica, q \in Queue : votes[r][q] = NoVote \/ votes[r][q] \in Vote
  /\ released \in [Replica -> [Client -> [Queue -> Nat]]]
  /\ wait \in [Replica -> 0..VoteLife]
  /\ asks \subseteq Ask
  /\ frees \subseteq Release
  /\ tries \in [Client -> Nat]
  /\ \A c \in Client : attempt[c] = NoAttempt \/ attempt[c] \in Attempt
  /\ lease \in [Client -> [Queue -> Nat]]
  /\ fresh \in [Client -> SUBSET Queue]
  /\ last \in [Queue -> Client \cup {None}]

-----------------------------------------------------------------------------
\* ---- Invariants ----

Holds(c, q) == lease[c][q] > 0

\* Else two consumers process a queue at once.
LockMutex == \A q \in Queue : Cardinality({c \in Client : Holds(c, q)}) <= 1

\* A broker votes for a consumer, or for nobody because it has forgotten its vote, for so long by a
\* clock that does not run fast.
Backs(r, q, c, life) ==
  \/ votes[r][q].c = c /\ votes[r][q].left >= life + Skew
  \/ wait[r] >= life + Skew

\* Why it holds: else another consumer may get the votes of a queue that is held.
HeldByQuorum ==
  \A c \in Client, q \in Queue :
    Holds(c, q) => Enough({r \in Replica : Backs(r, q, c, lease[c][q])})

\* Else a consumer counts a vote that the broker has not given, or has given to another, or that is
\* older than the attempt.
YesMeansVote ==
  \A c \in Client : attempt[c] # NoAttempt /\ attempt[c].left > 0 =>
    \A q \in Queue : \A r \in attempt[c].yes[q] :
      Backs(r, q, c, VoteLife - Skew - (Patience + 1 - attempt[c].left))

\* Else a failed attempt keeps others out although its release was delivered.  A broker that restarts
\* forgets releases, too: a request that comes later still keeps others out for the life of a vote.
LockRelease ==
  \A r \in Replica, q \in Queue :
    votes[r][q] # NoVote => votes[r][q].n > released[r][votes[r][q].c][q]

\* Else LockRelease says nothing: only a restart makes a broker forget what was given up.
ReleaseRemembered ==
  [][/\ \A m \in frees \ frees' : \A q \in m.qs : released'[m.r][m.c][q] >= m.n
     /\ \A r \in Replica, c \in Client, q \in Queue :
          released'[r][c][q] >= released[r][c][q] \/ wait'[r] = WaitAfterRestart]_vars

\* Else a broker lets go of a vote that another consumer relies on.
UnlockedByOwner ==
  [][\A r \in Replica, q \in Queue :
       (votes[r][q] # NoVote /\ votes'[r][q] = NoVote /\ frees' # frees)
         => \E m \in frees \ frees' : m.c = votes[r][q].c]_vars

\* Else a broker gives its vote to another consumer before it is over.
VoteKept ==
  [][\A r \in Replica, q \in Queue :
       votes[r][q] # NoVote /\ votes'[r][q] # NoVote => votes'[r][q].c = votes[r][q].c]_vars

\* Else a message is processed after one that a later holder has processed: out of order.
OrderPerQueue ==
  [][\A c \in Client, q \in Queue :
       last'[q] = c /\ last[q] # c => q \in fresh[c]]_vars

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

NoSplit ==                  \* each of two consumers has a vote of a queue that neither holds
  \A q \in Queue : (\A c \in Client : ~Holds(c, q)) =>
    Cardinality({votes[r][q].c : r \in Replica} \ {None}) <= 1
NoPartial ==                \* a part of a batch is locked, the rest is not
  \A c \in Client : attempt[c] # NoAttempt => Answers(attempt[c]) \in {{}, attempt[c].qs}
NoHandover ==               \* a queue goes from one consumer to another
  \A c \in Client, q \in Queue : Holds(c, q) => last[q] \in {None, c}
NoLateMessage ==            \* a request of an attempt that is over is still under way
  \A m \in asks : attempt[m.c] # NoAttempt
NoForgottenVote ==          \* a broker has forgotten a vote for a consumer that holds the queue
  \A c \in Client, q \in Queue, r \in Replica : Holds(c, q) => wait[r] = 0

-----------------------------------------------------------------------------
\* ---- Liveness ----

\* Consumers try again and again, and what is sent arrives; how they keep out of each other's way is
\* said by a model (Explored): a consumer waits, for a time that it draws, before it tries again.
Fairness ==
  /\ \A c \in Client :
       /\ WF_vars(\E qs \in SUBSET Queue, at \in Replica : Lock(c, qs, at))
       /\ WF_vars(\E got \in SUBSET Queue : ReceiveAnswer(c, got)) /\ WF_vars(GiveUp(c))
       /\ \A q \in Queue : WF_vars(Process(c, q))
       /\ \A r \in Replica : WF_vars(ReceiveAsk(c, r)) /\ WF_vars(ReceiveFree(c, r))
  /\ SF_vars(\E d \in Durations : Tick(d))   \* a model may let it wait for messages, not for ever

FairSpec == Spec /\ Fairness

\* Whatever happened, a queue that consumers want gets a holder again.
LockLive == \A q \in Queue : []<>(\E c \in Client : Holds(c, q))

\* And a holder processes it.
LockUsed == \A q \in Queue : []<>(\E c \in Client : Holds(c, q) /\ q \notin fresh[c])

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ LockMutex /\ HeldByQuorum)
===============================================================================

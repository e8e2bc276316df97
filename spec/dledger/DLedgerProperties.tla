-------------------------- MODULE DLedgerProperties --------------------------
(* What DLedger promises: invariants, each with what happens else; situations that must be
   reachable; what a fair group comes to.                                                        *)
EXTENDS DLedger

TypeOK ==
  /\ term \in [Node -> Nat] /\ vote \in [Node -> Node \cup {None}]
  /\ refill \in [Node -> Nat]
  /\ log \in [Node -> Seq(Entry)] /\ synced \in [Node -> Nat]
  /\ base \in [Node -> Nat] /\ baseTerm \in [Node -> Nat] /\ snap \in [Node -> Nat]
  /\ role \in [Node -> {"Leader", "Follower", "Candidate"}]
  /\ leader \in [Node -> Node \cup {None}]
  /\ known \in [Node -> Nat] /\ raise \in [Node -> BOOLEAN] /\ next \in [Node -> BOOLEAN]
  /\ round \in [Node -> [Node -> Answer \cup {NoAnswer}]]
  /\ taking \in [Node -> Nat] /\ transferee \in [Node -> Node \cup {None}]
  /\ same \in [Node -> Nat] /\ commit \in [Node -> Nat] /\ applied \in [Node -> Nat]
  /\ \A a \in asks : a \in Ask
  /\ \A l \in sent : l \in Leadership
  /\ \A r \in truncates : r \in Truncation
  /\ \A a \in acks : a \in [from : Node, term : Nat, index : Nat]
  /\ \A r \in transfers : r \in Transfer
  /\ inc \in [Node -> Nat] /\ agreed \in Seq(Entry)

-----------------------------------------------------------------------------
\* ---- Elections ----

\* Else one node makes two leaders of one term, also across a restart.
OneVotePerTerm ==
  [][\A n \in Node : term'[n] = term[n] /\ vote[n] # None => vote'[n] = vote[n]]_vars

\* Else two nodes write different entries at one place in one term.
OneLeaderPerTerm == \A l, k \in sent : l.term = k.term => l.by = k.by

\* Else a short log wins by the term that its node is in.
LastTermIsEntryTerm ==
  [][\A a \in asks' \ asks :
       a.endTerm = IF a.endIndex = base[a.from] THEN baseTerm[a.from]
                   ELSE log[a.from][a.endIndex].term]_vars

\* Else who was replaced goes on although it knows better.
TermCatchUp == \A n \in Node : known[n] > term[n] => role[n] # "Leader"

TermMonotone == [][\A n \in Node : term'[n] >= term[n]]_vars

\* ---- Logs ----

\* Else two logs with an entry in common differ before it.
RaftLogMatching ==
  \A n, m \in Node : \A i \in 1..Min(End(n), End(m)) :
    log[n][i].term = log[m][i].term => Prefix(log[n], i) = Prefix(log[m], i)

\* Else an entry that was committed is not in the log of a later leader.
LeaderCompleteness ==
  \A l, k \in sent : l.term >= k.term => IsPrefix(Prefix(k.log, k.commit), l.log)

\* Else a majority does not have what was agreed on, and the next leader may lack it.  Who has thrown its
\* log away elects nobody before it has it again; if a power cut takes it, this holds again.
Keeps(n) ==
  \/ IsPrefix(agreed, Prefix(log[n], IF refill[n] = 0 THEN synced[n] ELSE End(n)))
  \/ refill[n] > 0 /\ ~MayVote(n)
AgreedIsHeld == Quorum({n \in Node : Keeps(n)})

\* Else a log writes over what it has.
LeaderAppendOnly ==
  [][\A n \in Node : role[n] = "Leader" /\ role'[n] = "Leader" => IsPrefix(log[n], log'[n])]_vars

\* Else what was agreed on changes: the group is no one log.
AgreedGrows == [][IsPrefix(agreed, agreed')]_agreed

SyncedLeEnd == \A n \in Node : synced[n] <= End(n)
SameIsSo ==                 \* else a follower takes for the leader's what is not
  \A m \in Node : role[m] = "Follower" =>
    \E l \in sent : l.by = leader[m] /\ l.term = term[m] /\ IsPrefix(Prefix(log[m], same[m]), l.log)

\* ---- What is committed and applied ----

\* Else an entry of an earlier term is committed that a later leader may lack.
CommitOwnTerm ==
  [][\A n \in Node : role[n] = "Leader" /\ commit'[n] > commit[n] =>
       log[n][commit'[n]].term = term[n]]_vars

CommitLeEnd == \A n \in Node : commit[n] <= End(n)
AppliedLeCommit == \A n \in Node : applied[n] <= commit[n]
AppliedLeEnd == \A n \in Node : applied[n] <= End(n)

\* Else clients hear of what the group may never agree on.
CommitAgreed == \A n \in Node : commit[n] <= End(n) => IsPrefix(Prefix(log[n], commit[n]), agreed)

\* ---- Snapshots ----

\* Else a node keeps, or gives to others, what the group may never agree on.
SnapCommitted == \A n \in Node : snap[n] <= commit[n]
\* Else what is cut can be read nowhere.
PrefixCovered == \A n \in Node : base[n] <= snap[n]
\* Else a leader does not see that a follower has what it has.
BoundaryTerm == \A n \in Node : base[n] <= End(n) =>
                  baseTerm[n] = IF base[n] = 0 THEN 0 ELSE log[n][base[n]].term
\* Else the next entry cannot be applied.
LoadContiguous == \A n \in Node : base[n] <= applied[n]
\* Else a late snapshot takes a node back.
InstallFresh ==
  [][\A n \in Node : applied'[n] < applied[n] \/ commit'[n] < commit[n] => inc'[n] > inc[n]]_vars

\* ---- Refinement ----

RL == INSTANCE ReplicatedLog WITH seen <- [n \in Node |-> Prefix(log[n], applied[n])]
Refinement == RL!Spec

-----------------------------------------------------------------------------
\* ---- Witnesses: situations which must be reachable ----

NoZombie ==                 \* a leader was replaced, does not know, and its successor has committed
  \A n, m \in Node : ~(role[n] = "Leader" /\ role[m] = "Leader" /\ commit[m] > commit[n] /\
                       term[m] > term[n])
NoSecondTerm ==             \* an entry of a term is committed by the leader of another
  agreed # <<>> => agreed[1].term = agreed[Len(agreed)].term
NoLateLeader ==             \* a candidate is about to lead a term, and a larger one has had its leader
  ~(\E n \in Node : \E l \in sent :
      /\ l.term > term[n] /\ round[n] # NoRound
      /\ Parsed(n, {m \in Node : round[n][m] # NoAnswer}) = "PASSED" /\ MayLead(n))
NoLateCommit ==             \* a leader is about to commit, and a larger term has had its leader
  ~(\E n \in Node : \E l \in sent :
      /\ l.term > term[n] /\ role[n] = "Leader"
      /\ \E i \in (Max(commit[n], base[n]) + 1)..End(n) : IsHeld(n, i) /\ MayCommit(n, i))
NoTruncation ==             \* a follower has what its leader must cut
  \A m \in Node : \A r \in truncates : r.to = m /\ IsOfLeader(m, r.from, r.term) => r.index > End(m)
NoLateVote ==               \* a request for votes arrives when its round is over
  ~(\E a \in asks : round[a.from] = NoRound /\ \E m \in Node : VoteAnswer(m, a).result = "ACCEPT")
NoRevote == ~(\E n \in Node : round[n] # NoRound /\ Parsed(n, Node) = "REVOTE_IMMEDIATELY")
NoLostTail ==               \* a power cut takes an entry that another node has
  ~(\E n, m \in Node : inc[n] > 0 /\ End(m) > End(n) /\ log[m][End(m)].by = n)
NoRefilled ==               \* a node has thrown its log away, has it again, and elects somebody
  ~(\E m \in Node : refill[m] > 0 /\ \E n \in Node \ {m} : round[n][m].result = "ACCEPT")
NoInstall ==                \* a leader has cut what a follower lacks
  ~(\E m \in Node : \E l \in sent :
      IsOfLeader(m, l.by, l.term) /\ role[l.by] = "Leader" /\ base[l.by] > End(m))

-----------------------------------------------------------------------------
\* ---- Liveness ----

\* The members that run, and reach each other, for ever: a majority.
Connected == Node

\* n follows one that does not lead it any more, or that cannot be reached.
LostLeader(n) ==
  /\ role[n] = "Follower"
  /\ \/ leader[n] \notin Connected
     \/ role[leader[n]] # "Leader" \/ term[leader[n]] # term[n]

\* The leader of m still has in its log what follows the last entry that they have in common.
IsInReach(m) ==
  /\ role[m] = "Follower"
  /\ \E i \in Matches(m, log[leader[m]]) : i >= base[leader[m]]

\* A candidate asks, counts, or goes to the next term: never is there a choice.
GoOn(n) == IncreaseTerm(n) \/ AskVotes(n) \/ ParseVotes(n)
\* A member answers a request for votes in time.
Answered(n) == \E m \in Connected \ {n} :
                 /\ round[n][m] = NoAnswer
                 /\ HandleVote(m) /\ round'[n][m] # NoAnswer
\* Who knows that it leads no more, that its leader is gone, or whom it asked to lead, goes on.
LetGo(n) ==
  \/ \E m \in Connected : HearTerm(n, m)
  \/ LostLeader(n) /\ BecomeCandidate(n)
  \/ GoOnLeading(n)
\* A leader sends again and again what it has in its log, and its snapshot to whom this is no help.
Push(m) ==
  \/ IsInReach(m) /\ (Compare(m) \/ AppendAsFollower(m))
  \/ ~IsInReach(m) /\ InstallSnapshot(m)
  \/ Truncate(m) \/ LearnCommit(m)

\* Weak: whatever of these can be done is done, or something else before that makes it needless.  Nobody
\* has to crash, to write, to commit, to take a snapshot, to hand over the leadership or to take it.
Fairness ==
  \A n \in Connected :
    /\ WF_vars(GoOn(n)) /\ WF_vars(Answered(n)) /\ WF_vars(HandleHeartbeat(n))
    /\ WF_vars(LetGo(n)) /\ WF_vars(Push(n))

FairSpec == Spec /\ Fairness

Leads(n, m) == role[n] = "Leader" /\ leader[m] = n /\ term[m] = term[n]

\* The members that are connected come to have one leader, who stays and takes entries.
ElectLive ==
  <>[](\E n \in Connected : transferee[n] = None /\ \A m \in Connected : Leads(n, m))

\* Who has a leader that stays comes to have its log, and to know what it knows to be committed; also if the
\* leader has cut what it lacks, and whatever it had.
HasLeader(m) == \E n \in Connected : Leads(n, m)
HasAll(m) == \E n \in Connected : Leads(n, m) /\ log[m] = log[n] /\ commit[m] >= commit[n]
CatchUpLive == \A m \in Connected : <>[]HasLeader(m) => <>[]HasAll(m)

-----------------------------------------------------------------------------
\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ OneLeaderPerTerm /\ RaftLogMatching /\ LeaderCompleteness /\ CommitAgreed)
=============================================================================

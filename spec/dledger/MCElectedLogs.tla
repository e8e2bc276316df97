---------------------------- MODULE MCElectedLogs ----------------------------
(* DLedger refines ElectedLogs: TLC checks it in finite models.

   `counted` is a history: node -> term -> the largest index that the node, as the leader of that term,
   counted as its own when it committed.  It is set by what a step does to `commit`, and read by
   nothing else; so there is a step with it wherever there is one without.                       *)
EXTENDS MCDLedger

VARIABLE counted

Terms == 1..MaxOf({term[n] : n \in Node})
InTerm(t) == {l \in sent : l.term = t}
LeadershipOf(t) == CHOOSE l \in InTerm(t) : TRUE
TermsOf(q) == [i \in 1..Len(q) |-> q[i].term]
\* The last index that the leader of t committed, of entries of its own.
CommittedIn(t) ==
  IF InTerm(t) = {} THEN 0
  ELSE MaxOf({0} \cup {i \in 1..LeadershipOf(t).commit : LeadershipOf(t).log[i].term = t})
AckedIn(m, t) ==
  MaxOf({0} \cup {a.index : a \in {a \in acks : a.from = m /\ a.term = t}} \cup {counted[m][t]})

Counts(n) ==
  role[n] = "Leader" /\ role'[n] = "Leader" /\ commit'[n] > commit[n] /\ OwnIndex(n) >= commit'[n]
HistoryInit == Init /\ counted = [n \in Node |-> [t \in 1..MaxTerm |-> 0]]
HistoryNext ==
  /\ Next
  /\ counted' = [n \in Node |-> [t \in 1..MaxTerm |->
                IF t = term[n] /\ Counts(n) THEN Max(counted[n][t], commit'[n]) ELSE counted[n][t]]]
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, counted>>

EL == INSTANCE ElectedLogs WITH
  log <- [n \in Node |-> TermsOf(log[n])],
  accepts <- [n \in Node |-> [m \in Node |-> round[n][m].result = "ACCEPT"]],
  elected <- [t \in Terms |-> IF InTerm(t) = {} THEN None ELSE LeadershipOf(t).by],
  led <- [t \in Terms |-> IF InTerm(t) = {} THEN <<>> ELSE TermsOf(LeadershipOf(t).log)],
  commit <- [t \in Terms |-> CommittedIn(t)],
  acked <- [m \in Node |-> [t \in Terms |-> AckedIn(m, t)]]

\* A step of DLedger is one of ElectedLogs, or changes nothing of it.
ElectedLogsSpec == EL!Spec
=============================================================================

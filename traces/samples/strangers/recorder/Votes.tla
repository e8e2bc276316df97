------------------------------- MODULE Votes -------------------------------
(* Members vote, and a teller decides once all have: a small specification with the variables and
   the actions of the public logs, for a log of our own in their form.                             *)
CONSTANT RM

VARIABLES rmState, tmState, tmPrepared, msgs

vote(r) == [type |-> "Prepared", rm |-> r]

TPInit ==
  /\ rmState = [r \in RM |-> "working"]
  /\ tmState = "init"
  /\ tmPrepared = {}
  /\ msgs = {}

RMPrepare(r) ==
  /\ rmState[r] = "working"
  /\ rmState' = [rmState EXCEPT ![r] = "prepared"]
  /\ msgs' = msgs \cup {vote(r)}
  /\ UNCHANGED <<tmState, tmPrepared>>

TMRcvPrepared(r) ==
  /\ tmState = "init" /\ vote(r) \in msgs
  /\ tmPrepared' = tmPrepared \cup {r}
  /\ UNCHANGED <<rmState, tmState, msgs>>

decide(what) ==
  /\ tmState = "init"
  /\ tmState' = "done"
  /\ msgs' = msgs \cup {[type |-> what]}
  /\ UNCHANGED <<rmState, tmPrepared>>

TMCommit == tmPrepared = RM /\ decide("Commit")
TMAbort == decide("Abort")

learn(r, what, state) ==
  /\ [type |-> what] \in msgs
  /\ rmState' = [rmState EXCEPT ![r] = state]
  /\ UNCHANGED <<tmState, tmPrepared, msgs>>

RMRcvCommitMsg(r) == learn(r, "Commit", "committed")
RMRcvAbortMsg(r) == learn(r, "Abort", "aborted")

TPNext ==
  \/ TMCommit \/ TMAbort
  \/ \E r \in RM : RMPrepare(r) \/ TMRcvPrepared(r) \/ RMRcvCommitMsg(r) \/ RMRcvAbortMsg(r)

\* Nobody commits what another member aborts.
TPTypeOK == {rmState[r] : r \in RM} \notin {{"committed", "aborted"}}
=============================================================================

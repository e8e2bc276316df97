------------------------------ MODULE MCDLedger ------------------------------
(* Finite models of DLedger: what they explore, and their symmetry. *)
EXTENDS DLedgerProperties, TLC

CONSTANTS
  MaxTerm,       \* the largest term
  MaxLog,        \* entries in a log
  MaxCrash,      \* power cuts in all
  MaxAsks,       \* different requests for votes in all
  MaxSnapshot,   \* index of the largest snapshot; 0: there is none
  MaxTransfer    \* leadership that is handed over

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..(MaxTerm + MaxLog + MaxCrash)

Crashes == Cardinality({x \in Node \X (1..MaxCrash) : x[2] <= inc[x[1]]})

Bounded(action, n) ==
  CASE action = "IncreaseTerm" -> NextTerm(n) <= MaxTerm
    [] action = "AskVotes" -> AskOf(n) \in asks \/ Cardinality(asks) < MaxAsks
    [] action = "BecomeCandidate" -> term[n] < MaxTerm /\ Cardinality(asks) < MaxAsks
    [] action = "AppendAsLeader" -> End(n) < MaxLog
    [] action = "Crash" -> Crashes < MaxCrash
    [] action = "Unsynced" -> MaxCrash > 0
    [] action = "SaveSnapshot" -> applied[n] <= MaxSnapshot
    [] action = "Apply" -> applied[n] < MaxSnapshot
    [] action = "TransferLeadership" -> Cardinality(transfers) < MaxTransfer
    [] action \in {"EarlierMatch", "IdleTruncate"} -> FALSE
    [] OTHER -> TRUE

\* Fewer: only a leader that has written all loses power, and nobody else gives up.
Few(action, n) ==
  /\ Bounded(action, n)
  /\ action = "Crash" => role[n] = "Leader" /\ End(n) = MaxLog
  /\ action # "BecomeCandidate"

\* More: requests to compare and to cut as they may be late.
Late(action, n) == action \in {"EarlierMatch", "IdleTruncate"} \/ Few(action, n)

Symmetry == Permutations(Node)
=============================================================================

--------------------------- MODULE ConsistencyLog ---------------------------
(* CCF's consistency specification for logs: steps say the transaction ID for the sake of which they
   happen, so that what a log does not show, other transactions and elections, is bound by the line
   that follows. Each of them is a step of MultiNodeReads.                                         *)
EXTENDS MultiNodeReads

\* A transaction is executed, as entry seqno of the branch of view.
Execute(view, seqno) ==
  /\ RwTxExecuteAction
  /\ view \in DOMAIN ledgerBranches
  /\ ledgerBranches'[view] # ledgerBranches[view]
  /\ Len(ledgerBranches'[view]) = seqno

\* A read is answered with the ID of the last entry that it saw.
Read(view, seqno) ==
  /\ RoTxResponseAction
  /\ Last(history').tx_id = <<view, seqno>>

\* The branch of view grows by a transaction of somebody else, up to seqno.
AppendOther(view, seqno) ==
  /\ AppendOtherTxnAction
  /\ view \in DOMAIN ledgerBranches
  /\ ledgerBranches'[view] # ledgerBranches[view]
  /\ Len(ledgerBranches'[view]) <= seqno

\* A leader is elected, in view at the latest, and has fewer than seqno entries, or as many.
Elect(view, seqno) ==
  /\ TruncateLedgerAction
  /\ Len(ledgerBranches') <= view
  /\ Len(Last(ledgerBranches')) <= seqno

LogNext ==
  \/ NextMultiNodeReadsAction
  \/ \E view, seqno \in Nat :
       \/ Execute(view, seqno)
       \/ Read(view, seqno)
       \/ AppendOther(view, seqno)
       \/ Elect(view, seqno)
=============================================================================

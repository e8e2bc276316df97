------------------------------ MODULE Receipts ------------------------------
(* A ledger with a branch for each view, and what its clients hear: a small specification for logs
   of our own in the form of CCF's consistency traces. A transaction is executed in one step and
   answered in a later one; an election keeps what clients heard to be committed.                *)
EXTENDS Naturals, Sequences

VARIABLES history, ledgerBranches

Init == history = <<>> /\ ledgerBranches = <<<<>>, <<>>>>

View == Len(ledgerBranches)
Branch == ledgerBranches[View]

Heard(type) == SelectSeq(history, LAMBDA e : e.type = type)
Tell(e) == history' = Append(history, e) /\ UNCHANGED ledgerBranches
Write(e) == ledgerBranches' = [ledgerBranches EXCEPT ![View] = Append(@, e)] /\ UNCHANGED history

\* How many entries of the branch are known to be committed.
Committed ==
  LET statuses == SelectSeq(Heard("T_TxStatusReceived"), LAMBDA e : e.status = "S_CommittedStatus")
      counts == {statuses[n].tx_id[2] : n \in DOMAIN statuses}
  IN  CHOOSE n \in counts \cup {0} : \A m \in counts : m <= n

Request(type) ==
  Tell([type |-> type, tx |-> Len(Heard("T_RwTxRequest")) + Len(Heard("T_RoTxRequest"))])
RwTxRequestAction == Request("T_RwTxRequest")
RoTxRequestAction == Request("T_RoTxRequest")

Written(tx) == \E view \in 1..View : \E n \in DOMAIN ledgerBranches[view] :
  "tx" \in DOMAIN ledgerBranches[view][n] /\ ledgerBranches[view][n].tx = tx
Answered(tx) == \E n \in DOMAIN history :
  history[n].type \in {"T_RwTxResponse", "T_RoTxResponse"} /\ history[n].tx = tx

Execute(view, seqno) ==
  /\ view = View
  /\ seqno = Len(Branch) + 1
  /\ \E n \in DOMAIN history :
       /\ history[n].type = "T_RwTxRequest"
       /\ ~Written(history[n].tx)
       /\ Write([view |-> view, tx |-> history[n].tx])

AppendOther(view, seqno) == view = View /\ Len(Branch) < seqno /\ Write([view |-> view])

Elect(view, seqno) ==
  /\ view > View
  /\ \E n \in Committed .. Len(Branch) :
       n <= seqno /\ ledgerBranches' = Append(ledgerBranches, SubSeq(Branch, 1, n))
  /\ UNCHANGED history

RwTxResponseAction ==
  \E view \in 1..View : \E n \in DOMAIN ledgerBranches[view] :
    LET entry == ledgerBranches[view][n]
    IN  /\ entry.view = view
        /\ "tx" \in DOMAIN entry
        /\ ~Answered(entry.tx)
        /\ Tell([type |-> "T_RwTxResponse", tx |-> entry.tx, tx_id |-> <<view, n>>])

Read(view, seqno) ==
  /\ seqno = Len(Branch)
  /\ seqno > 0
  /\ view = Branch[seqno].view
  /\ \E n \in DOMAIN history :
       /\ history[n].type = "T_RoTxRequest"
       /\ ~Answered(history[n].tx)
       /\ Tell([type |-> "T_RoTxResponse", tx |-> history[n].tx, tx_id |-> <<view, seqno>>])

Kept(id) == id[2] <= Len(Branch) /\ Branch[id[2]].view = id[1]
Status(status, kept) ==
  \E n \in DOMAIN history :
    /\ history[n].type = "T_RwTxResponse"
    /\ Kept(history[n].tx_id) = kept
    /\ Tell([type |-> "T_TxStatusReceived", tx_id |-> history[n].tx_id, status |-> status])
StatusCommittedResponseAction == Status("S_CommittedStatus", TRUE)
StatusInvalidResponseAction == Status("S_InvalidStatus", FALSE)

Next ==
  \/ RwTxRequestAction \/ RwTxResponseAction \/ RoTxRequestAction
  \/ StatusCommittedResponseAction \/ StatusInvalidResponseAction
  \/ \E view, seqno \in Nat :
       \/ Execute(view, seqno) \/ Read(view, seqno)
       \/ AppendOther(view, seqno) \/ Elect(view, seqno)

\* What a client heard to be committed stays.
CommittedStays ==
  \A n \in DOMAIN history :
    (history[n].type = "T_TxStatusReceived" /\ history[n].status = "S_CommittedStatus")
      => Kept(history[n].tx_id)
=============================================================================

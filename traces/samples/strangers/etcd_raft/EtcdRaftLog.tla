---------------------------- MODULE EtcdRaftLog ----------------------------
(* etcd's raft as its example log begins: servers 1 to 5 have started in term 1, with a log of five
   entries that made them members one after the other; the others join later.                     *)
EXTENDS etcdraft

LOCAL Started(i, then, else) == IF i \in InitServer THEN then ELSE else

LogServerVars ==
  /\ currentTerm = [i \in Server |-> Started(i, 1, 0)]
  /\ state = [i \in Server |-> Follower]
  /\ votedFor = [i \in Server |-> Nil]

LogLogVars ==
  LET entry == [term |-> 1, type |-> ConfigEntry,
                value |-> [newconf |-> InitServer, learners |-> {}]]
  IN  /\ log = [i \in Server |-> Started(i, [n \in 1..5 |-> entry], <<>>)]
      /\ commitIndex = [i \in Server |-> Started(i, 5, 0)]

LogConfigVars ==
  /\ config = [i \in Server |-> [jointConfig |-> <<Started(i, InitServer, {}), {}>>,
                                 learners |-> {}]]
  /\ reconfigCount = 0

\* The messages of a server that were not sent yet, without a fold over a bag.
LogPendingMessages(i) ==
  [m \in {m \in DOMAIN pendingMessages : m.msource = i} |-> pendingMessages[m]]

\* How many entries a message has; those without the field have none.
LOCAL Entries(m) == IF "mentries" \in DOMAIN m THEN Len(m.mentries) ELSE 0

\* A server takes a step because of a message with n entries, which it has not answered yet.
ReceivePart(m, n) == n = Entries(m) /\ Receive(m) /\ UNCHANGED messages

\* A server takes the last of these steps: the message is gone.
ReceiveLast(m, n) == n = Entries(m) /\ Receive(m) /\ messages' # messages

LogNext ==
  \/ NextDynamic
  \/ \E m \in DOMAIN messages : \E n \in {Entries(m)} : ReceivePart(m, n) \/ ReceiveLast(m, n)
=============================================================================

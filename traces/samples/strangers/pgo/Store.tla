-------------------------------- MODULE Store --------------------------------
(* A store of one server and one client: a small specification with the variables and the actions of
   the public logs of raftkvs, for logs of our own in their form.                                   *)
EXTENDS Naturals, Sequences, Bags, TLC

CONSTANTS Keys, Values

VARIABLES pc, network, m, log, commitIndex, newCommitIndex, sm, req, resp, reqIdx

server == 1
applier == 4
client == 7
nobody == "nobody"
vars == <<pc, network, m, log, commitIndex, newCommitIndex, sm, req, resp, reqIdx>>

Requests ==
  [type : {"put"}, key : Keys, value : Values] \cup [type : {"get"}, key : Keys]

Init ==
  /\ pc = [p \in {server, applier, client} |->
             CASE p = server -> "serverLoop"
               [] p = applier -> "serverAdvanceCommitIndexLoop"
               [] p = client -> "clientLoop"]
  /\ network = [p \in {server, client} |-> [queue |-> EmptyBag, enabled |-> TRUE]]
  /\ m = [p \in {server} |-> nobody]
  /\ log = [p \in {server} |-> <<>>]
  /\ commitIndex = [p \in {server} |-> 0]
  /\ newCommitIndex = [p \in {applier} |-> 0]
  /\ sm = [p \in {server} |-> <<>>]
  /\ req = [p \in {client} |-> nobody]
  /\ resp = [p \in {client} |-> nobody]
  /\ reqIdx = [p \in {client} |-> 0]

goto(self, from, to) == pc[self] = from /\ pc' = [pc EXCEPT ![self] = to]
send(to, mail) == network' = [network EXCEPT ![to].queue = @ (+) SetToBag({mail})]
receive(self, mail) ==
  /\ mail \in BagToSet(network[self].queue)
  /\ network' = [network EXCEPT ![self].queue = @ (-) SetToBag({mail})]

serverLoop(self) ==
  /\ goto(self, "serverLoop", "handleMsg")
  /\ \E mail \in BagToSet(network[self].queue) :
       receive(self, mail) /\ m' = [m EXCEPT ![self] = mail]
  /\ UNCHANGED <<log, commitIndex, newCommitIndex, sm, req, resp, reqIdx>>

handleMsg(self) ==
  /\ goto(self, "handleMsg", "serverLoop")
  /\ log' = [log EXCEPT ![self] = Append(@, m[self].mcmd)]
  /\ UNCHANGED <<network, m, commitIndex, newCommitIndex, sm, req, resp, reqIdx>>

serverAdvanceCommitIndexLoop(self) ==
  /\ goto(self, "serverAdvanceCommitIndexLoop", "applyLoop")
  /\ newCommitIndex' = [newCommitIndex EXCEPT ![self] = Len(log[server])]
  /\ UNCHANGED <<network, m, log, commitIndex, sm, req, resp, reqIdx>>

apply(self, cmd) ==
  /\ sm' = IF cmd.type = "put"
             THEN [sm EXCEPT ![server] = (cmd.key :> cmd.value) @@ @]
             ELSE sm
  /\ send(client, [idx |-> cmd.idx,
                   value |-> IF cmd.key \in DOMAIN sm'[server] THEN sm'[server][cmd.key] ELSE 0])

applyLoop(self) ==
  /\ IF commitIndex[server] < newCommitIndex[self]
       THEN /\ goto(self, "applyLoop", "applyLoop")
            /\ commitIndex' = [commitIndex EXCEPT ![server] = @ + 1]
            /\ apply(self, log[server][commitIndex'[server]])
       ELSE /\ goto(self, "applyLoop", "serverAdvanceCommitIndexLoop")
            /\ UNCHANGED <<commitIndex, sm, network>>
  /\ UNCHANGED <<m, log, newCommitIndex, req, resp, reqIdx>>

clientLoop(self) ==
  /\ goto(self, "clientLoop", "sndReq")
  /\ \E one \in Requests : req' = [req EXCEPT ![self] = one]
  /\ reqIdx' = [reqIdx EXCEPT ![self] = @ + 1]
  /\ UNCHANGED <<network, m, log, commitIndex, newCommitIndex, sm, resp>>

sndReq(self) ==
  /\ goto(self, "sndReq", "rcvResp")
  /\ send(server, [msource |-> self, mcmd |-> ("idx" :> reqIdx[self]) @@ req[self]])
  /\ UNCHANGED <<m, log, commitIndex, newCommitIndex, sm, req, resp, reqIdx>>

rcvResp(self) ==
  /\ goto(self, "rcvResp", "clientLoop")
  /\ \E mail \in BagToSet(network[self].queue) :
       /\ receive(self, mail)
       /\ mail.idx = reqIdx[self]
       /\ resp' = [resp EXCEPT ![self] = mail]
  /\ UNCHANGED <<m, log, commitIndex, newCommitIndex, sm, req, reqIdx>>

Next ==
  \/ serverLoop(server) \/ handleMsg(server)
  \/ serverAdvanceCommitIndexLoop(applier) \/ applyLoop(applier)
  \/ clientLoop(client) \/ sndReq(client) \/ rcvResp(client)

Applied == \A k \in Keys : k \in DOMAIN sm[server] => sm[server][k] \in Values
=============================================================================

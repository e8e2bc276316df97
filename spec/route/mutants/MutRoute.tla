------------------------------- MODULE MutRoute -------------------------------
(* One operator a known bug, or a guard without which a property falls.  checks.toml says the property
   that must find it.
   B.. are entries of the museum of real bugs; the others are tags of `CHECK` in the spec.      *)
EXTENDS MCRoute

\* B40, #6316: the last registration wins, whichever epoch it is of.
B40IsNewest(n, e) == TRUE
\* RouteInfoManager.registerBroker compares with who is registered at present.
B40ForgottenIsNewest(n, e) ==
  e.id = 0 => \A x \in table[n] : x.id = 0 => e.ver >= x.ver
\* B41, #5374: a broker is removed by its brokerId.
B41IsMeant(x, e) == x.id = e.id
\* B42, #11043: a broker is removed by its address.
B42IsMeant(x, e) == x.b = e.b
\* B43, #7626: in groups of which no slave acts, topics lose the permission to write.
B43MayMask == TRUE
\* B44, #1464: a broker registers as what it is by default, a master.
B44KnowsRole(b) == TRUE

\* The smallest slave alone masks (a "prime slave"), not a master that has become a slave.
DemotedMasksAtRegistration(n, entries, e) == ~HasMaster(entries) /\ e.id = MinOf(Ids(entries))
\* A master that comes back finds its topics as they are.
RestoresPermWithMaster(n) == IF perm[n] = "none" THEN "rw" ELSE perm[n]
\* The end of a master changes no topic.
MasksPermWithout(n, entries) == IF entries = {} THEN "none" ELSE perm[n]
\* A master that becomes a slave is found under both brokerIds.
OneEntryIsReplaced(x, e) == x.id = e.id
\* Two masters are found under brokerId 0.
OneIdIsReplaced(x, e) == x.b = e.b
VersionsIsBefore(x, y) == x.ch <= y.ch
\* RouteInfoManager has nothing left of a group that has no broker.
RemembersSeenWithout(n, entries) == IF entries = {} THEN 0 ELSE seen[n]
\* BrokerController looks at services when another brokerId is the smallest; ReplicasManager stops them
\* for whoever becomes a slave.
DemotionServesAs(b, id) == FALSE
TopicsGoPermWithout(n, entries) == IF MayMask /\ ~HasMaster(entries) THEN "r" ELSE perm[n]
NoMasterMayAct(n) == Acting
AskedMayAct(n) == ~HasMaster(table[n])
ToldNotes(n, entries) == {}
\* RouteInfoManager.registerBroker removes a broker's other entry before it looks at versions.
RefusedLeftByRefused(n, e) == {x \in table[n] : x.b # e.b \/ x.id = e.id}
OwnOrderIsInOrder(n, e) == TRUE
\* RIP-32's section on configuration: brokerId 1 acts.
SmallestWhoActs(entries) == {e \in entries : e.id = 1}
\* A broker trusts that it is told.
PollsAsks(b, n) == FALSE
=============================================================================

---------------------------- MODULE RouteProperties ----------------------------
(* What Route promises: invariants, each with what happens else; situations that must be reachable;
   what a group comes to whose brokers neither stop nor change any more.                         *)
EXTENDS Route

TypeOK ==
  /\ elected \in Seq(Broker)
  /\ up \in [Broker -> BOOLEAN]
  /\ channel \in [Broker -> Nat]
  /\ role \in [Broker -> Role]
  /\ minId \in [Broker -> Broker \cup {0}]
  /\ serves \in [Broker -> BOOLEAN]
  /\ \A n \in NameServer : table[n] \subseteq Entry
  /\ perm \in [NameServer -> {"none", "r", "rw"}]
  /\ seen \in [NameServer -> Nat]
  /\ past \in [NameServer -> Nat]
  /\ \A m \in regs \cup unregs : m.n \in NameServer /\ m.e \in Entry
  /\ \A m \in notes : m.n \in NameServer /\ m.b \in Broker /\ m.id \in Broker \cup {0}

-----------------------------------------------------------------------------
\* ---- Invariants ----

\* Else a broker is found under two brokerIds, or two brokers under one.
OneEach ==
  \A n \in NameServer : \A x, y \in table[n] : x.b = y.b \/ x.id = y.id => x = y

\* Else producers are sent to a master whose successor this name server has known.
RouteNewestMaster ==
  \A n \in NameServer : \A e \in table[n] : e.id = 0 => e.ver = past[n]

\* Else clients are sent to a broker that nobody has made master.
RouteElected ==
  \A n \in NameServer : \A e \in table[n] :
    e.id = 0 => e.ver \in DOMAIN elected /\ elected[e.ver] = e.b

\* Else topics stay read-only without a reason, or are there without a broker.
PermRestored ==
  \A n \in NameServer :
    /\ perm[n] = "r" => Acting /\ ~HasMaster(table[n])
    /\ table[n] = {} => perm[n] = "none"

\* Else producers are sent to a slave.
ActingNoWrite == \A n \in NameServer : Shown(n) # {} => perm[n] = "r"

\* Else nobody is shown in the master's place, or somebody who does not run its services.
ActingSmallest ==
  \A n \in NameServer :
    (Acting /\ table[n] # {} /\ \A e \in table[n] : e.id # 0)
      => \E e \in table[n] : Shown(n) = {e} /\ \A x \in table[n] : e.id <= x.id

\* Of two registrations of a broker, x is the later one.
IsLater(x, y) == x.ch > y.ch \/ (x.ch = y.ch /\ x.ver > y.ver)

\* Else the end of a registration takes a later one with it, or another broker's, which nobody makes
\* again for a while; or a registration that is refused does.
UnregisterOwn ==
  [][\A n \in NameServer : \A x \in table[n] :
       \/ \E y \in table'[n] : y = x \/ (regs' # regs /\ (y.b = x.b \/ y.id = x.id))
       \/ \E m \in unregs \ unregs' : m.n = n /\ m.e.b = x.b /\ ~IsLater(x, m.e)
       \/ table'[n] = {} /\ regs' = regs /\ unregs' = unregs  \* it has started again
     ]_vars

\* Else a registration that comes late takes the place of a later one of the same broker.
NoStepBack ==
  [][\A n \in NameServer : \A x \in table[n], y \in table'[n] : x.b = y.b => ~IsLater(x, y)]_vars

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

NoActing ==                 \* a slave is shown as master, for reading
  \A n \in NameServer : Shown(n) = {} \/ perm[n] # "r"
NoTwoServe ==               \* a slave acts while the master is there, and known
  \A b \in Broker, n \in NameServer : serves[b] => ~HasMaster(table[n])
NoLateEnd ==                \* the end of a registration is still to be done that was made anew since
  \A m \in unregs : \A x \in table[m.n] : x.b = m.e.b => ~IsLater(x, m.e)
NoLateMaster ==             \* the registration of a master is under way that has been replaced
  \A m \in regs : m.e.id = 0 => m.e.ver >= seen[m.n]
NoForgotten ==              \* and its successor is not known any more
  \A m \in regs : m.e.id = 0 /\ m.e.ver < seen[m.n] => HasMaster(table[m.n])
NoDisagreement ==           \* two name servers send clients to two masters
  \A n, o \in NameServer : \A x \in table[n], y \in table[o] : x.id = 0 /\ y.id = 0 => x = y

-----------------------------------------------------------------------------
\* ---- Liveness ----

\* Brokers that run hear what they are, register and ask; what is sent arrives; who is gone, or has
\* another channel, is taken for gone.  Nobody needs to start again, and nobody to be elected.
IsGone(n, b) == \E e \in table[n] : e.b = b /\ (~up[b] \/ channel[b] # e.ch)
Fairness ==
  /\ \A b \in Broker :
       /\ WF_vars(LearnRole(b))
       /\ \A n \in NameServer : WF_vars(Register(b, n)) /\ WF_vars(Poll(b, n))
  /\ \A n \in NameServer, b \in Broker :
       /\ WF_vars(ReceiveNote(b, n, FALSE)) /\ WF_vars(ReceiveRegistration(n, b))
       /\ WF_vars(IsGone(n, b) /\ Decide(n, b)) /\ WF_vars(Remove(n, b))

FairSpec == Spec /\ Fairness

Up == {b \in Broker : up[b]}
Master == elected[Len(elected)]

\* A name server knows who is there, as what it is, and whether there is somebody to write to.
IsRight(n) ==
  /\ table[n] = {EntryOf(b) : b \in Up}
  /\ CASE Up = {} -> perm[n] = "none"
       [] up[Master] -> perm[n] = "rw"
       [] ~up[Master] /\ Acting /\ Up # {} -> perm[n] = "r"
       [] OTHER -> TRUE
RouteLive == <>[](\A n \in NameServer : IsRight(n))

\* Where the master is gone, the slave with the smallest brokerId serves, and no other; where it is
\* back, none does.
ServesLive ==
  <>[](\A b \in Broker : serves[b] <=> Acting /\ ~up[Master] /\ up[b] /\ b = MinOf(Up))

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ RouteNewestMaster /\ ActingNoWrite)
===============================================================================

--------------------------- MODULE SingleController ---------------------------
(* The controller of a broker group as brokers may think of it: one, which judges a request at the
   moment when it decides it, and never forgets.

   Modelled: its register of one group; requests to alter the SyncStateSet, late, doubled or lost:
   they stay in `alters`; what it may have answered so far, in `views`: an answer may come at any
   time, again, or never.
   Not modelled: who is alive (any member may be elected, any request refused), incarnations and
   members with a torn log (ReplicaGroup), unclean elections.

   Conventions: sssEpoch counts the decisions about the set; views[n] is what number n decided.
   Source: none in the code; ReplicaGroup assumes it, ControllerGroup implements it.              *)
EXTENDS Prefixes

CONSTANTS
  Broker,      \* the brokers of one group
  None         \* stands for "no broker"

VARIABLES
  ctl,         \* the register: [master, epoch, sss, sssEpoch]
  views,       \* what may have been answered so far, by sssEpoch: sequence of [master, epoch, sss]
  alters       \* requests to alter that may arrive, at any time, any number of times

vars == <<ctl, views, alters>>

-----------------------------------------------------------------------------
Init ==
  /\ ctl = [master |-> None, epoch |-> 0, sss |-> {}, sssEpoch |-> 0]
  /\ views = <<>> /\ alters = {}

\* What may be answered from now on: each decision about the set has a view.
Decided ==
  /\ ctl'.sssEpoch = ctl.sssEpoch + 1
  /\ views' = Append(views, [master |-> ctl'.master, epoch |-> ctl'.epoch, sss |-> ctl'.sss])

\* A master asks for another set than the one that it has heard of.
SendAlter ==
  /\ alters \subseteq alters' /\ alters' # alters
  /\ \A r \in alters' \ alters :
       /\ r.exp \in DOMAIN views
       /\ r.from = views[r.exp].master /\ r.epoch = views[r.exp].epoch
  /\ UNCHANGED <<ctl, views>>

\* A member is master from now on, with a set of its own; of a group without members, any broker.
ElectMaster(c) ==
  /\ ctl.master # c
  /\ ctl.sss = {} \/ c \in ctl.sss

  /\ ctl' = [master |-> c, epoch |-> ctl.epoch + 1, sss |-> {c}, sssEpoch |-> ctl.sssEpoch + 1]
  /\ Decided
  /\ UNCHANGED alters

\* A request is of the present master, of its masterEpoch, for the present set.
IsCurrent(r) == r.from = ctl.master /\ r.epoch = ctl.epoch /\ r.exp = ctl.sssEpoch

\* A request of m for a set with its master is granted.
AlterSyncStateSet(m) ==
  \E r \in alters :
    /\ r.from = m /\ IsCurrent(r) /\ m \in r.set

    /\ ctl' = [ctl EXCEPT !.sss = r.set, !.sssEpoch = @ + 1]
    /\ Decided
    /\ UNCHANGED alters

\* It is refused, and no copy of it will be granted.
RefuseAlter(m) ==
  \E r \in alters :
    /\ r.from = m /\ IsCurrent(r)

    /\ ctl' = [ctl EXCEPT !.sssEpoch = @ + 1]
    /\ Decided
    /\ UNCHANGED alters

\* A master that restarted registers: it is none until it is elected again.
Restart(b) ==
  /\ ctl.master = b

  /\ ctl' = [ctl EXCEPT !.master = None]
  /\ UNCHANGED <<views, alters>>

\* An operator removes what is known of the group; the masterEpoch stays.
CleanBrokerData ==
  /\ ctl.sss # {}

  /\ ctl' = [ctl EXCEPT !.master = None, !.sss = {}, !.sssEpoch = @ + 1]
  /\ Decided
  /\ UNCHANGED alters

Next ==
  \/ SendAlter \/ CleanBrokerData
  \/ \E b \in Broker : ElectMaster(b) \/ AlterSyncStateSet(b) \/ RefuseAlter(b) \/ Restart(b)

Spec == Init /\ [][Next]_vars
=============================================================================

----------------------- MODULE MCReplicaGroupController -----------------------
(* The controller in ReplicaGroup is a SingleController: finite models of that.                    *)
EXTENDS MCReplicaGroup

SC == INSTANCE SingleController WITH
        ctl <- [master |-> ctl.master, epoch |-> ctl.epoch, sss |-> ctl.sss,
                sssEpoch |-> ctl.sssEpoch],
        alters <- {[from |-> r.from, epoch |-> r.epoch, exp |-> r.exp, set |-> r.set] : r \in alters}
SingleControl == SC!Spec
=============================================================================

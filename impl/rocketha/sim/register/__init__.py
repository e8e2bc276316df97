"""A DLedger group with one register on it, simulated: the cluster of `rocketha.sim.dledger`."""

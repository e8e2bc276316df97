"""A DLedger group with registers on it, simulated: nodes, clients, nemeses."""

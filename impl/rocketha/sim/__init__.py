"""Clusters of the cores in virtual time, under faults that a seed draws."""

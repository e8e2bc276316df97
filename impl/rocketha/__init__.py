"""A reference implementation of RocketMQ's high-availability protocols.

Pure protocol cores, RocketMQ's real wire and file formats, and a simulator with faults.
"""

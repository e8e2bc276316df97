"""Released RocketMQ 5 processes on loopback, watched by an agent, with faults by proxies and kills.

Maven fetches them once (`jars`); nothing here asks a network while a group runs.
"""

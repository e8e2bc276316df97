"""Known bugs of RocketMQ, and guards that may be left out: each can be put into the cores.

A core takes its rules, as a mutant of a specification takes its operators; a bug is an override of
some of them. No core imports this package.
"""

from rocketha.known_bugs.bug import (
    NO_BUGS,
    Bug,
    Bugs,
)
from rocketha.known_bugs.dledger import DLEDGER_BUGS
from rocketha.known_bugs.epoch_truncation import EPOCH_BUGS
from rocketha.known_bugs.escape import ESCAPE_BUGS
from rocketha.known_bugs.legacy_replication import LEGACY_BUGS
from rocketha.known_bugs.lock_quorum import LOCK_BUGS
from rocketha.known_bugs.pre_online import PRE_ONLINE_BUGS
from rocketha.known_bugs.register import REGISTER_BUGS
from rocketha.known_bugs.replica_group import BROKER_BUGS, CONTROLLER_BUGS, GROUP_BUGS
from rocketha.known_bugs.route import ROUTE_BUGS
from rocketha.known_bugs.snapshot_loading import SNAPSHOT_BUGS
from rocketha.known_bugs.storage import STORAGE_BUGS

__all__ = [
    "BROKER_BUGS",
    "CONTROLLER_BUGS",
    "DLEDGER_BUGS",
    "EPOCH_BUGS",
    "ESCAPE_BUGS",
    "GROUP_BUGS",
    "LEGACY_BUGS",
    "LOCK_BUGS",
    "NO_BUGS",
    "PRE_ONLINE_BUGS",
    "REGISTER_BUGS",
    "ROUTE_BUGS",
    "SNAPSHOT_BUGS",
    "STORAGE_BUGS",
    "Bug",
    "Bugs",
]

"""What a broker is made of: the states of its parts, and how they are set up."""

from __future__ import annotations

from dataclasses import dataclass

from rocketha.escape.master_state import MasterOptions, MasterState
from rocketha.escape.state import SlaveOptions, SlaveState
from rocketha.formats.message import Message
from rocketha.pre_online.state import PreOnlineOptions, PreOnlineState
from rocketha.types import MASTER, BrokerId, Offset

__all__ = ["BrokerOptions", "BrokerState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOptions:
    """How a broker is set up; its parts say the same of its name, its address and its topics.

    Its host knows brokers of its own group by their brokerIds, those of others as `services` have
    them, and as `tables.name_server` the one that `BrokerState.name_server` says.
    """

    services: SlaveOptions
    """Of what is put from its log; its `acting` is how it is among name servers."""
    tables: PreOnlineOptions
    store: MasterOptions
    """Of a master's log; a slave stores nothing."""
    copy_log_ms: int = 100
    """How often a slave asks its master for the rest of the log."""
    log_bytes_max: int = 4_096
    """So much of a log a master gives at a time, or one record that is longer."""
    log_timeout_ms: int = 3_000

    @property
    def is_master(self) -> bool:
        """Tell whether it is the master of its group, whenever it runs."""
        return self.tables.broker_id == MASTER


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerState:
    """What a broker knows."""

    options: BrokerOptions
    services: SlaveState
    """It is among name servers, and puts what is due: a slave into other masters' logs, a master
    into its own."""
    tables: PreOnlineState
    store: MasterState | None
    """None: it is a slave."""
    seen: Offset
    """Up to there its services know the log."""
    messages: tuple[Message, ...]
    """What lies in it before `seen`."""
    asks_log: int | None = None
    """The number of its question for the rest of the log."""
    asked_logs: int = 0
    """So many such questions were asked."""

    @property
    def name_server(self) -> BrokerId:
        """Return which name server is asked now, as its host calls it."""
        acting = self.services.acting
        return acting.options.name_servers[acting.asks_first]

    @property
    def serves(self) -> bool:
        """Tell whether it serves its clients: as a master that is online, or as a slave that acts.

        Spec: PreOnline!TakesCommits
        """
        tables = self.tables
        return tables.options.rules.takes_commits(tables.serves, tables.isolated)

"""What performs a name server's own effects: it tells brokers, and closes their connections.

Source: namesrv/routeinfo `RouteInfoManager` (`notifyMinBrokerIdChanged`, `scanNotActiveBroker`)
"""

from __future__ import annotations

from typing import Protocol, assert_never

from rocketha.formats.name_server_codec import push_notification
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.nameserver.core import (
    CloseChannel,
    NameServerAction,
    NameServerHears,
    TellMinBrokerId,
)
from rocketha.runtime.events import RequestEvent
from rocketha.runtime.performer import Performer
from rocketha.types import ConnectionId

__all__ = ["BrokerChannels", "ChannelPerformer"]


class BrokerChannels(Protocol):
    """Connections with brokers."""

    def tell(self, address: str, command: RemotingCommand) -> None:
        """Send a command, one way, to the broker at an address."""
        ...

    def close(self, conn: ConnectionId) -> None:
        """Close a connection of a broker; the core is not told that it is gone."""
        ...


class ChannelPerformer(Performer[NameServerHears | RequestEvent, NameServerAction]):
    """Does to brokers whatever is no answer."""

    effects = (TellMinBrokerId, CloseChannel)

    def __init__(self, channels: BrokerChannels) -> None:
        """Take the port."""
        self._channels = channels

    def perform(
        self, effect: TellMinBrokerId | CloseChannel, action: NameServerAction | None
    ) -> None:
        """Tell a broker, or close its connection."""
        del action
        match effect:
            case TellMinBrokerId(notice=notice):
                self._channels.tell(notice.address, push_notification(notice.says, opaque=0))
            case CloseChannel(conn=conn):
                self._channels.close(conn)
            case _ as unreachable:
                assert_never(unreachable)

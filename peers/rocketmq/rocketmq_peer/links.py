"""Which links a group has, and which node each of its addresses is of; only computed here.

Each broker reaches each other node by a link of its own, so that any pair can be parted:

| link         | who calls       | whom                          |
|--------------|-----------------|-------------------------------|
| `ns.b2`      | b2              | the name server               |
| `c1.b2`      | b2              | controller c1                 |
| `to.b1.b2`   | b2              | b1, with requests             |
| `fast.b1.b2` | b2              | b1, about its topics           |
| `ha.b1.b2`   | b2              | b1's port of replication      |
| `to.b1.c`    | all controllers | b1, to say who is master      |

A broker says at the controllers where it is, and hears from them and from the name server where
others are. On the way addresses are replaced by those of links: b1 is at `to.b1.c` for controllers,
and what b2 hears of b1 is `to.b1.b2` and `ha.b1.b2`. Clients hear real addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rocketmq_peer.frame_rewriting import Rewrite, address
from rocketmq_peer.ports import GroupPorts
from rocketmq_peer.proxy import LinkOptions

__all__ = ["CONTROLLERS", "PlannedLink", "names_of", "planned_links"]

CONTROLLERS = "c"
"""Who calls on `to.b1.c`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLink:
    """A link that is to be added to the proxies."""

    kind: str
    """What is called: "ns", "c1", "to", "fast", "ha"."""
    callee: str
    caller: str
    listen: int
    target: int
    options: LinkOptions = field(default_factory=LinkOptions)

    @property
    def name(self) -> str:
        """Its name among the proxies."""
        if self.kind in ("to", "fast", "ha"):
            return f"{self.kind}.{self.callee}.{self.caller}"
        return f"{self.kind}.{self.caller}"


def planned_links(ports: GroupPorts) -> tuple[PlannedLink, ...]:
    """Return the links of a group, those of b1's calls first."""
    return tuple(
        link
        for number in range(1, ports.brokers + 1)
        for link in (*_calls_of(number, ports), _notices_to(number, ports))
    )


def _calls_of(number: int, ports: GroupPorts) -> Iterator[PlannedLink]:
    """Give the links on which a broker calls others."""
    own, caller = ports.broker(number), f"b{number}"
    others = {of: ports.broker(of) for of in range(1, ports.brokers + 1) if of != number}
    ha = {of: Rewrite.of_ports(other.ha, other.ha_from[number]) for of, other in others.items()}
    direct = [
        Rewrite.of_ports(other.remoting, other.remoting_from[number]) for other in others.values()
    ]
    yield PlannedLink(
        kind="ns",
        callee="namesrv",
        caller=caller,
        listen=own.to_name_server,
        target=ports.name_server,
        options=LinkOptions(to_client=(*ha.values(), *direct)),
    )
    leaders = [
        Rewrite.of_ports(ports.controller(of).remoting, listen)
        for of, listen in own.to_controller.items()
    ]
    for of, listen in own.to_controller.items():
        yield PlannedLink(
            kind=f"c{of}",
            callee=f"c{of}",
            caller=caller,
            listen=listen,
            target=ports.controller(of).remoting,
            options=LinkOptions(
                to_server=[Rewrite.of_ports(own.remoting, own.from_controllers)],
                to_client=(*leaders, *_registered(number, ports)),
            ),
        )
    for of, other in others.items():
        for kind, listen, target in (
            ("to", other.remoting_from[number], other.remoting),
            ("fast", other.fast_from[number], other.fast),
        ):
            yield PlannedLink(
                kind=kind,
                callee=f"b{of}",
                caller=caller,
                listen=listen,
                target=target,
                options=LinkOptions(to_client=[ha[of]]),
            )
        yield PlannedLink(
            kind="ha",
            callee=f"b{of}",
            caller=caller,
            listen=other.ha_from[number],
            target=other.ha,
        )


def _notices_to(number: int, ports: GroupPorts) -> PlannedLink:
    """Return the link on which controllers call a broker."""
    own = ports.broker(number)
    return PlannedLink(
        kind="to",
        callee=f"b{number}",
        caller=CONTROLLERS,
        listen=own.from_controllers,
        target=own.remoting,
        options=LinkOptions(to_server=_registered(number, ports)),
    )


def _registered(number: int, ports: GroupPorts) -> tuple[Rewrite, ...]:
    """Replace what controllers know of other brokers by where this broker reaches them."""
    others = (ports.broker(of) for of in range(1, ports.brokers + 1) if of != number)
    return tuple(
        [Rewrite.of_ports(other.from_controllers, other.remoting_from[number]) for other in others]
    )


def names_of(ports: GroupPorts) -> list[tuple[str, str]]:
    """Return (address, node) of brokers and controllers: of their own and of their links."""
    found: list[tuple[str, str]] = []
    for number in range(1, ports.controllers + 1):
        own = ports.controller(number)
        found += [(address(port), f"c{number}") for port in (own.remoting, own.raft)]
    for number in range(1, ports.brokers + 1):
        each = ports.broker(number)
        found += [(address(port), f"b{number}") for port in (each.remoting, each.ha)]
    links = [link for link in planned_links(ports) if link.kind != "ns"]
    return found + [(address(link.listen), link.callee) for link in links]

"""The configuration file of a name server's process, in RocketMQ's own names.

| name                                | what                                          | if missing |
|-------------------------------------|-----------------------------------------------|------------|
| `bindAddress`, `listenPort`         | where it listens                              | 127.0.0.1, |
|                                     |                                               | 9876       |
| `supportActingMaster`               | clients are shown a slave in place of a       | false      |
|                                     | master that is gone                           |            |
| `notifyMinBrokerIdChanged`          | brokers are told of another smallest brokerId | false      |
| `scanNotActiveBrokerInterval`       | milliseconds between two looks for brokers    | 5000       |
|                                     | that are silent                               |            |
| `unRegisterBrokerQueueCapacity`     | how many brokers' requests to end may wait    | 3000       |
| `deleteTopicWithBrokerRegistration` | a registration names all topics of its broker | false      |
| `enableControllerInNamesrv`         | the process has a controller, too, whose      | false      |
|                                     | settings are in this file                     |            |
|                                     | (`controller_configuration`)                  |            |

RocketMQ's `bindAddress` is 0.0.0.0 if it is missing. Names that its name server has besides are
passed by, so that the same file starts both; any other one is refused.

Source: common/namesrv `NamesrvConfig`, remoting/netty `NettyServerConfig`
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocketha.nameserver.state import NameServerOptions
from rocketha.process.controller_configuration import (
    NAMES,
    ControllerConfiguration,
    read_configuration,
)
from rocketha.process.settings import Settings

__all__ = ["NameServerConfiguration"]

_CONTROLLER: Final = "enableControllerInNamesrv"
_OURS: Final = frozenset(
    {
        "bindAddress",
        "listenPort",
        "supportActingMaster",
        "notifyMinBrokerIdChanged",
        "scanNotActiveBrokerInterval",
        "unRegisterBrokerQueueCapacity",
        "deleteTopicWithBrokerRegistration",
        _CONTROLLER,
    }
)
_PASSED_BY: Final = frozenset(
    {
        "rocketmqHome",
        "kvConfigPath",
        "configStorePath",
        "productEnvName",
        "clusterTest",
        "orderMessageEnable",
        "returnOrderTopicConfigToBroker",
        "clientRequestThreadPoolNums",
        "defaultThreadPoolNums",
        "clientRequestThreadPoolQueueCapacity",
        "defaultThreadPoolQueueCapacity",
        "enableAllTopicList",
        "enableTopicList",
        "needWaitForService",
        "waitSecondsForService",
        "configBlackList",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameServerConfiguration:
    """What a name server's process is told."""

    address: str
    """Where it listens, `host:port`."""
    options: NameServerOptions
    controller: ControllerConfiguration | None = None
    """That of the controller in its process; None: it has none."""

    @classmethod
    def read(cls, path: Path) -> NameServerConfiguration:
        """Read a file of properties. Raises: ConfigurationError"""
        settings, known = Settings.read(path), NameServerOptions()
        own, controller = _OURS | _PASSED_BY, None
        if settings.flag(_CONTROLLER, False):
            controller = read_configuration(path, beside=own)
        settings.only(own if controller is None else own | NAMES)
        host, port = settings.ip4("bindAddress", "127.0.0.1"), settings.port("listenPort", 9876)
        options = NameServerOptions(
            support_acting_master=settings.flag("supportActingMaster", False),
            notify_min_broker_id_changed=settings.flag("notifyMinBrokerIdChanged", False),
            scan_not_active_ms=settings.number(
                "scanNotActiveBrokerInterval", known.scan_not_active_ms
            ),
            delete_topics=settings.flag("deleteTopicWithBrokerRegistration", False),
            removals_max=settings.number("unRegisterBrokerQueueCapacity", known.removals_max),
        )
        return cls(address=f"{host}:{port}", options=options, controller=controller)

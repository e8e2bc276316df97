"""Command lines of JVMs: small heaps, what RocketMQ needs opened, nothing outside of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocketmq_peer.errors import PeerError

__all__ = ["AgentOptions", "JavaProgram", "logback", "names_file"]

_HEAP: Final = (
    "-Xms64m",
    "-Xmx384m",
    "-XX:MaxDirectMemorySize=256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xshare:auto",
)
_OPENED: Final = (
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in ("java.nio", "sun.nio.ch", "java.lang", "java.util", "java.math")
    ),
)
_OF_LOGBACK: Final = "org.apache.rocketmq.logging.ch.qos.logback.core"
_LOGBACK: Final = f"""\
<configuration>
  <statusListener class="{_OF_LOGBACK}.status.NopStatusListener"/>
  <appender name="OUT" class="{_OF_LOGBACK}.ConsoleAppender">
    <encoder><pattern>%d{{HH:mm:ss.SSS}} %-5level %logger{{0}} - %msg%n</pattern></encoder>
  </appender>
  <logger name="RocketmqStats" level="WARN"/>
  <logger name="RocketmqWaterMark" level="WARN"/>
  <logger name="RocketmqTraffic" level="WARN"/>
  <logger name="RocketmqRemoting" level="WARN"/>
  <root level="LEVEL"><appender-ref ref="OUT"/></root>
</configuration>
"""


def logback(level: str) -> str:
    """Write a configuration of logs: what is at least so important goes to the process's output.

    RocketMQ's own writes files into the user's home.
    """
    return _LOGBACK.replace("LEVEL", level)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What the agent in a broker or controller is told."""

    jar: Path
    records: Path
    node: str
    incarnation: int
    names: Path
    """A file of lines "host:port=node"; see `names_file`."""
    gates: Path
    """A folder; see `gates`."""
    is_consumer: bool = False
    """It is in a client, which locks queues."""

    def argument(self) -> str:
        """Return the option of the JVM. Raises: PeerError"""
        for path in (self.records, self.names, self.gates):
            if "," in str(path):
                raise PeerError(f"{path}: the agent takes no path with a comma")
        return (
            f"-javaagent:{self.jar}=records={self.records},node={self.node},"
            f"incarnation={self.incarnation},names={self.names},gates={self.gates}"
            f"{',kind=consumer' if self.is_consumer else ''}"
        )


def names_file(names: Sequence[tuple[str, str]]) -> str:
    """Write which node an address is of: a line "host:port=node" each.

    Raises: ValueError: an address is of two nodes.
    """
    if len(dict(names)) < len(set(names)):
        raise ValueError("an address is of two nodes")
    return "".join(f"{address}={node}\n" for address, node in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaProgram:
    """A main class, and what it is started with."""

    java: Path
    main: str
    arguments: Sequence[str | Path] = ()
    classpath: Sequence[Path]
    """Folders of jars, and jars."""
    home: Path
    """Its working directory, and what it takes for the user's home."""
    logback: Path
    name_server: str
    """Where clients and tools look for brokers; without it they would ask a host far away."""
    agent: AgentOptions | None = None
    options: Sequence[str] = field(default=())
    """More options of the JVM."""

    def command(self) -> list[str]:
        """Return the words that start it. Raises: PeerError"""
        classpath = ":".join(str(p) if p.suffix == ".jar" else f"{p}/*" for p in self.classpath)
        return [
            str(self.java),
            *_HEAP,
            *_OPENED,
            f"-Duser.home={self.home}",
            f"-Drocketmq.home.dir={self.home}",
            f"-Drocketmq.namesrv.addr={self.name_server}",
            f"-Drmq.logback.configurationFile={self.logback}",
            "-Drocketmq.client.logUseSlf4j=true",
            "-Dcom.rocketmq.sendMessageWithVIPChannel=false",
            "-Djava.net.preferIPv4Stack=true",
            *self.options,
            *([] if self.agent is None else [self.agent.argument()]),
            "-cp",
            classpath,
            self.main,
            *map(str, self.arguments),
        ]

"""Who a broker is, how often it started, and on which boot of its machine it was last registered.

| file                | content (UTF-8, without a line break)                              |
|---------------------|--------------------------------------------------------------------|
| brokerIdentity      | `cluster#brokerName#brokerId`                                      |
| brokerIdentity-temp | `cluster#brokerName#brokerId#registerCheckCode`: asked for, not    |
|                     | given; the code is `address;milliseconds`                          |
| brokerStarts        | `number of starts#boot`; ours, see below                           |

Every file is replaced as a whole: written under another name, synchronized, renamed, and the
directory synchronized. RocketMQ removes a file and writes it again, so a power cut in between takes
the identity away. Where it is stopped while it writes brokerIdentity, the beginning of it is left,
and brokerIdentity-temp, which it removes afterwards: then the id is still one that is asked for.

A broker that was stopped keeps its log, since the operating system has it; only if the machine
stopped, too, a part of the log may be lost. So a broker notes the boot of its machine when it is
*registered*: before that, the controller does not know what the boot before has cost, and the next
start must say so again.

Source: store/ha/autoswitch `MetadataFile`, `BrokerMetadata`, `TempBrokerMetadata`
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rocketha.errors import EncodingError, IdentityFileError
from rocketha.formats.controller_requests import FIRST_INCARNATION, Incarnation
from rocketha.storage.disk import Disk, parent
from rocketha.types import INT64_MAX, BrokerId, Identity

__all__ = ["IdentityStore", "Start"]

_FILE_MAX: Final = 4_096
_NUMBER: Final = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z", re.ASCII)
_NEVER: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A start of a broker."""

    incarnation: Incarnation
    """Number of starts before it."""
    log_torn: bool
    """The machine stopped since the last registration: a part of the log may be lost."""


class IdentityStore:
    """Reads and replaces the files of one broker."""

    __slots__ = ("_boot", "_disk", "_group", "_path")

    def __init__(
        self,
        disk: Disk,
        *,
        cluster_name: str,
        broker_name: str,
        boot: str,
        path: str = "brokerIdentity",
    ) -> None:
        """Serve a broker of this group on a machine whose present boot has this name."""
        self._disk = disk
        self._group = f"{cluster_name}#{broker_name}"
        if self._group.count("#") != 1 or "#" in boot or not boot:
            raise EncodingError("identity", reason=f"{self._group!r}, {boot!r} have a # or nothing")
        self._boot = boot
        self._path = path

    def load(self) -> Identity | None:
        """Read who the broker is, or what it has asked for.

        Raises: IdentityFileError, DiskError
        """
        if not self._disk.exists(self._path):
            return self._asked()
        if (asked := self._interrupted()) is not None:
            return asked
        return Identity(broker_id=self._broker_id(self._path, self._fields(self._path, 1)[0]))

    def store(self, identity: Identity) -> None:
        """Note who the broker is; with a check code, what it asks for. Durable when it returns.

        Raises: EncodingError, DiskError
        """
        text = self._given(identity.broker_id)
        if identity.register_check_code is not None:
            if not identity.register_check_code or "#" in identity.register_check_code:
                reason = f"{identity.register_check_code!r} has a # or nothing"
                raise EncodingError("check code", reason=reason)
            self._replace(self._temporary, f"{text}#{identity.register_check_code}")
            return
        self._replace(self._path, text)
        if self._disk.exists(self._temporary):
            self._disk.unlink(self._temporary)
            self._disk.fsync_dir(parent(self._path))

    def begin(self) -> Start:
        """Count a start, durably. Raises: IdentityFileError, DiskError"""
        starts, boot = self._read_starts()
        incarnation = Incarnation(starts)
        self._replace(self._counter, f"{starts + 1}#{boot}")
        torn = incarnation > FIRST_INCARNATION and boot != self._boot
        return Start(incarnation=incarnation, log_torn=torn)

    def registered(self) -> None:
        """Note that the controller knows all that was lost. Raises: IdentityFileError, DiskError"""
        starts, boot = self._read_starts()
        if boot != self._boot:
            self._replace(self._counter, f"{starts}#{self._boot}")

    def _asked(self) -> Identity | None:
        """Read what the broker has asked for. Raises: IdentityFileError, DiskError"""
        temporary = self._temporary
        if not self._disk.exists(temporary):
            return None
        number, code = self._fields(temporary, 2)
        return Identity(broker_id=self._broker_id(temporary, number), register_check_code=code)

    def _interrupted(self) -> Identity | None:
        """Return what was asked for if only the beginning of its confirmation was written.

        Raises: DiskError

        Source: ReplicasManager.createMetadataFileAndDeleteTemp, confirmNowRegisteringState
        """
        try:
            asked = self._asked()
        except IdentityFileError:
            return None
        if asked is None:
            return None
        whole = self._given(asked.broker_id).encode("utf-8")
        there = self._disk.read(self._path, 0, _FILE_MAX + 1)
        return asked if there != whole and whole.startswith(there) else None

    def _given(self, broker_id: BrokerId) -> str:
        return f"{self._group}#{broker_id}"

    @property
    def _temporary(self) -> str:
        return self._path + "-temp"

    @property
    def _counter(self) -> str:
        directory = parent(self._path)
        return f"{directory}/brokerStarts" if directory else "brokerStarts"

    def _read_starts(self) -> tuple[int, str]:
        if not self._disk.exists(self._counter):
            return 0, _NEVER
        text = self._text(self._counter)
        number, separator, boot = text.partition("#")
        if not separator or not _NUMBER.match(number):
            raise self._damaged(self._counter, text)
        return int(number), boot

    def _fields(self, path: str, count: int) -> list[str]:
        """Return what follows the name of the group."""
        text = self._text(path)
        fields = text.split("#")
        if len(fields) != 2 + count or "#".join(fields[:2]) != self._group or "" in fields:
            raise self._damaged(path, text)
        return fields[2:]

    def _broker_id(self, path: str, text: str) -> BrokerId:
        if not _NUMBER.match(text) or not 0 < int(text) <= INT64_MAX:
            raise self._damaged(path, text)
        return BrokerId(int(text))

    def _text(self, path: str) -> str:
        data = self._disk.read(path, 0, _FILE_MAX + 1)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = "is not UTF-8"
            raise IdentityFileError(path, offset=error.start, reason=reason) from None
        if len(data) > _FILE_MAX:
            raise IdentityFileError(path, offset=_FILE_MAX, reason="is too long")
        return text

    def _damaged(self, path: str, text: str) -> IdentityFileError:
        reason = f"{text[:80]!a} does not fit to {self._group}"
        return IdentityFileError(path, offset=0, reason=reason)

    def _replace(self, path: str, text: str) -> None:
        aside = path + ".tmp"
        if self._disk.exists(aside):
            self._disk.truncate(aside, 0)
        self._disk.write(aside, 0, text.encode("utf-8"))
        self._disk.fsync(aside)
        self._disk.rename(aside, path)
        self._disk.fsync_dir(parent(path))

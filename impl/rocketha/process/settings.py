"""The configuration file of a node, setting by setting."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocketha.errors import ConfigurationError, PacketError
from rocketha.formats.properties import pull_properties
from rocketha.process.event_loop import split_address

__all__ = ["Settings"]

_DIGITS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file says; all methods raise `ConfigurationError`, which names the file."""

    path: str
    values: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read a file of properties, `name=value` each line."""
        try:
            return cls(str(path), pull_properties(path.read_bytes()))
        except OSError as error:
            raise ConfigurationError(str(path), reason=error.strerror or str(error)) from error
        except PacketError as error:
            raise ConfigurationError(str(path), reason=str(error)) from error

    def only(self, names: Collection[str]) -> None:
        """Refuse any other name."""
        unknown = sorted(self.values.keys() - set(names))
        if unknown:
            raise ConfigurationError(self.path, reason=f"{unknown[0][:40]!a} is no setting")

    def text(self, name: str, default: str | None) -> str:
        """Return a text; with no default it must be there."""
        value = self.values.get(name) or default
        if not value:
            raise ConfigurationError(self.path, reason=f"{name} is missing")
        return value

    def ip4(self, name: str, default: str) -> str:
        """Return an IPv4 address."""
        text = self.text(name, default)
        try:
            return str(ipaddress.IPv4Address(text))
        except ValueError as error:
            raise ConfigurationError(self.path, reason=f"{name}: {error}") from None

    def number(self, name: str, default: int, *, least: int = 1) -> int:
        """Return a number."""
        text = self.values.get(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
            raise ConfigurationError(self.path, reason=f"{name} is {text[:40]!a}, not a number")
        if int(text) < least:
            raise ConfigurationError(self.path, reason=f"{name} is {int(text)}, below {least}")
        return int(text)

    def port(self, name: str, default: int) -> int:
        """Return the number of a port."""
        port = self.number(name, default)
        if port >= 1 << 16:
            raise ConfigurationError(self.path, reason=f"{name} is {port}, which is no port")
        return port

    def flag(self, name: str, default: bool) -> bool:
        """Return whether something is so."""
        text = self.values.get(name, str(default).lower())
        if text not in ("true", "false"):
            raise ConfigurationError(self.path, reason=f"{name} is {text[:40]!a}")
        return text == "true"

    def addresses(self, name: str, *, required: bool = True) -> tuple[str, ...]:
        """Return addresses, `host:port` with semicolons between them."""
        text = self.text(name, None) if required else self.values.get(name, "")
        found = tuple(part.strip() for part in text.split(";") if part.strip())
        for address in found:
            try:
                split_address(address)
            except ValueError as error:
                raise ConfigurationError(self.path, reason=f"{name}: {error}") from None
        return found

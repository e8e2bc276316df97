"""What a broker believes to be."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Role"]


class Role(StrEnum):
    """What a broker believes to be. A zombie master still says `MASTER`."""

    MASTER = "Master"
    SLAVE = "Slave"

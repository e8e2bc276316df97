"""The files of a process are its own while it runs."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from rocketha.errors import DiskError

__all__ = ["lock_store"]


def lock_store(store: Path) -> IO[bytes]:
    """Keep other processes from the files, until what is returned is closed. Raises: DiskError"""
    try:
        store.mkdir(parents=True, exist_ok=True)
        file = (store / "lock").open("ab")
    except OSError as error:
        raise DiskError("lock", reason=error.strerror or str(error)) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise DiskError("lock", reason="another process has these files") from error
    return file

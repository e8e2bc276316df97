"""Keep compiled models: the second run of a command needs neither SANY nor Java.

A model is kept under the hash of everything that it is made of: the text of all modules at hand,
the configuration, the compiler and the jar. The folder is ROCKETPROOF_CACHE, or rocketproof in the
user's cache folder; it may be deleted at any time. It holds Python text that will be executed, as
__pycache__ does: it belongs to the user alone, and what others can write is not read.
"""

from __future__ import annotations

import os
import stat
import tempfile
from hashlib import sha256
from pathlib import Path

import msgspec

from tlatrace.compiler.model_source import ModelSource

__all__ = ["cache_folder", "keep", "keep_code", "model_key", "recall", "recall_code"]

_MAX_BYTES = 200 * 1024 * 1024
_MARK = 32
"""Bytes before code: its SHA-256."""


def cache_folder() -> Path:
    """Return the folder of compiled models; it need not exist."""
    given = os.environ.get("ROCKETPROOF_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "rocketproof" / "models"


def model_key(fingerprint: str, *extras: str) -> str:
    """Return the key of a model with what it was asked for besides."""
    return "-".join([fingerprint, *extras])


def recall(key: str) -> ModelSource | None:
    """Return the model that is kept under a key; None if there is none that can be trusted."""
    path = cache_folder() / f"{key}.json"
    try:
        status = path.stat()
        if status.st_size > _MAX_BYTES or not _is_ours(status) or not _is_ours(path.parent.stat()):
            return None
        source = ModelSource.from_text(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, msgspec.DecodeError):
        return None
    return source if source.fingerprint in key else None


def recall_code(key: str) -> bytes | None:
    """Return the code, of a machine or of Python's, that is kept under a key.

    None if none can be trusted.
    """
    path = cache_folder() / f"{key}.o"
    try:
        status = path.stat()
        if status.st_size > _MAX_BYTES or not _is_ours(status) or not _is_ours(path.parent.stat()):
            return None
        content = path.read_bytes()
    except OSError:
        return None
    mark, code = content[:_MARK], content[_MARK:]
    return code if sha256(code).digest() == mark else None  # whoever loads it believes it


def keep_code(key: str, code: bytes) -> None:
    """Keep code; a folder that cannot be written is no error."""
    _write(f"{key}.o", sha256(code).digest() + code)


def keep(key: str, source: ModelSource) -> None:
    """Keep a model; a folder that cannot be written is no error."""
    _write(f"{key}.json", source.to_text().encode())


def _write(name: str, content: bytes) -> None:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, new = tempfile.mkstemp(dir=folder, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(new).replace(folder / name)
    except OSError:
        return


def _is_ours(status: os.stat_result) -> bool:
    """Tell whether only this user can have written it."""
    if not hasattr(os, "getuid"):
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid == os.getuid() and not status.st_mode & others

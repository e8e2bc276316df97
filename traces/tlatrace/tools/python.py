"""Run a module of ours in a Python process of its own, with a hash seed of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from tlatrace.errors import ToolError

__all__ = ["run_python"]


def run_python(
    module: str, arguments: Sequence[str], *, hash_seed: int, timeout_s: float = 600.0
) -> str:
    """Run `python -m module arguments` with a PYTHONHASHSEED; return what it prints.

    Raises:
        ToolError: it does not start, does not end in time, or ends with an error.
    """
    paths = os.pathsep.join([path for path in sys.path if path])
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": paths}
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except OSError as error:
        raise ToolError("Python", f"{sys.executable} does not start ({error.strerror})") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError("Python", f"no answer of {module} in {timeout_s:.0f} s") from error
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", errors="replace").strip().rpartition("\n")[2]
        raise ToolError("Python", f"{module} ends with {done.returncode}: {last}")
    return done.stdout.decode("utf-8")

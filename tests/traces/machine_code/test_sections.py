"""Sections of an object lie together, however fragmented the memory of the process is."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = r"""
import ctypes
import mmap

from tlatrace.machine_code.machine import Machine, object_of

PRIVATE, NO_RESERVE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 0x4000
FAR, GAP, HOLE = 6 << 30, 32 * mmap.PAGESIZE, 8 * mmap.PAGESIZE

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def function(n):
    ks = range(12)
    cases = "".join(
        f"b{k}:\n %v{k} = add i64 %x, {k * k + n}\n %w{k} = mul i64 %v{k}, %t\n ret i64 %w{k}\n"
        for k in ks
    )
    labels = " ".join(f"i64 {k}, label %b{k}" for k in ks)
    head = f"define i64 @f{n}(i64* %m, i64 %t, i64 %x) {{\n switch i64 %x, label %d [{labels}]\n"
    return f"{head}{cases}d:\n ret i64 {n}\n}}\n"


code = object_of("".join(map(function, range(1_200))))


def mapped(size):
    return libc.mmap(None, size, 0, PRIVATE | NO_RESERVE, -1, 0)


# Nothing is left above but a hole that is too small for the code.
far = mapped(FAR)
while (gap := mapped(GAP)) > far:
    pass
libc.munmap(gap, GAP)
libc.munmap(far + FAR - HOLE - mmap.PAGESIZE, HOLE)

third = Machine(code, 1).function("f3", 1)
assert [third(5), third(100)] == [0, 3]  # the text begins at 0
print("runs")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="how memory is mapped is Linux's")
def test_code_runs_where_its_sections_would_lie_far_apart() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False
    )

    assert (done.returncode, done.stdout) == (0, "runs\n"), done.stderr

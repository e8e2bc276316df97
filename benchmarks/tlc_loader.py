"""TLC with traces that a Java class loads: the fastest that TLC itself can be made to judge.

SANY reads literal traces at some 100 KB/s; a Java override reads them from a file instead. It has
to be compiled against the jar, so it needs a JDK; the JRE of a Python package is not enough.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.tools.jar import find_jar
from tlatrace.tools.java import find_java
from tlatrace.tools.module_folders import module_folders
from tlatrace.trace import Trace
from tlatrace.values import ExactString, Fcn, ModelValue, TlaSet, Value

__all__ = ["javac", "seconds_by_loader"]

_SOURCE = Path(__file__).parent / "java" / "RpTraces.java"
_TLC = "tlc2.TLC"
_TIMEOUT_S = 900.0


def javac() -> str | None:
    """Return the Java compiler of this machine; None if there is none."""
    return shutil.which("javac")


def seconds_by_loader(
    spec: SpecUnderTest, traces: Sequence[Trace], compiler: str
) -> tuple[float, float]:
    """Return how long one TLC process takes, its start included, for traces that all conform.

    First by the clock, then CPU time of all its threads.
    """
    with tempfile.TemporaryDirectory(prefix="rocketproof-loader-") as name:
        folder = Path(name)
        jar = find_jar().path
        subprocess.run(
            [compiler, "--release", "17", "-cp", str(jar), "-d", str(folder), str(_SOURCE)],
            check=True,
            capture_output=True,
        )
        data = folder / "traces.txt"
        data.write_text("\n".join(_lines(spec, traces)) + "\n", "utf-8")
        (folder / "RpTraces.tla").write_text(
            "---- MODULE RpTraces ----\nLoad(file) == CHOOSE x \\in {file} : TRUE\n====\n", "utf-8"
        )
        (folder / "RpLoaded.tla").write_text(_module(spec, traces, data), "utf-8")
        config = "\n".join(["INIT RpInit", "NEXT RpNext", "VIEW RpView", "CONSTANTS"])
        (folder / "RpLoaded.cfg").write_text(
            config + "\n" + "\n".join(spec.constants) + "\n", "utf-8"
        )
        command = [str(find_java().java), "-XX:+UseSerialGC", "-Xmx4g", "-Xss64m"]
        folders = os.pathsep.join(map(str, module_folders(spec.module, spec.libraries)))
        command += [f"-DTLA-Library={folders}", "-cp", f"{jar}:{folder}", _TLC]
        command += ["-workers", "1", "-deadlock", "-metadir", str(folder / "states"), "RpLoaded"]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
        seconds = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        events = sum(len(trace.events) for trace in traces)
        wanted = f" {events} distinct states found"
        assert wanted in done.stdout, done.stdout[-2000:]
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, cpu


def _module(spec: SpecUnderTest, traces: Sequence[Trace], data: Path) -> str:
    calls = sorted(
        {(e.action, len(e.params)) for t in traces for e in t.events[1:] if e.action is not None}
    )
    cases = [
        f'e[1] = "{name}" -> {name}'
        + (f"({', '.join(f'e[2][{k + 1}]' for k in range(n))})" * (n > 0))
        for name, n in calls
    ]
    names = spec.variables
    first = " /\\ ".join([f"{name} = e[3][{at}]" for at, name in enumerate(names, start=1)])
    after = " /\\ ".join([f"{name}' = e[3][{at}]" for at, name in enumerate(names, start=1)])
    return "\n".join(
        [
            "---- MODULE RpLoaded ----",
            f"EXTENDS {spec.declarations.module}, RpTraces, TLC",
            "VARIABLES RpI, RpK",
            *spec.definitions,
            f'RpAll == Load("{data}")',
            "RpView == <<RpI, RpK>>",
            "RpInit == /\\ RpI \\in 1..Len(RpAll) /\\ RpK = 1",
            f"          /\\ LET e == RpAll[RpI][1] IN {first}",
            "RpNext == /\\ RpK < Len(RpAll[RpI]) /\\ RpK' = RpK + 1 /\\ RpI' = RpI",
            f"          /\\ LET e == RpAll[RpI][RpK + 1] IN {after}",
            "          /\\ LET e == RpAll[RpI][RpK + 1] IN",
            "             CASE " + "\n               [] ".join(cases),
            "====\n",
        ]
    )


def _lines(spec: SpecUnderTest, traces: Sequence[Trace]) -> Iterator[str]:
    yield f"t{len(traces)}"
    for trace in traces:
        yield f"t{len(trace.events)}"
        for event in trace.events:
            assert event.state is not None
            yield "t3"
            yield f"s{event.action}"
            yield from _value(spec.reading.params(event.action, event.params))
            state = spec.reading.state(event.state)
            yield from _value(tuple([state[name] for name in spec.variables]))


def _value(value: Value) -> Iterator[str]:
    match value:
        case bool():
            yield f"b{int(value)}"
        case int():
            yield f"i{value}"
        case str():
            yield f"s{value}"
        case ExactString():
            yield f"s{value.text}"
        case tuple():
            yield f"t{len(value)}"
            for element in value:
                yield from _value(element)
        case TlaSet():
            yield f"{{{len(value)}"
            for element in value:
                yield from _value(element)
        case Fcn():
            yield f"{'r' if value.is_record else 'f'}{len(value)}"
            for key, image in value.pairs:
                if value.is_record:
                    yield str(key)
                else:
                    yield from _value(key)
                yield from _value(image)
        case ModelValue():
            raise AssertionError("this benchmark's traces have no model values")

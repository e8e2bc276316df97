"""Work in processes of this machine: no engine, no Java.

The processes are spawned, not forked, because Arrow has threads. A worker that dies is an error:
nothing is done twice, and nothing is left out. Where there is little to do, it is done here.
When this process ends, or nobody wants more results, workers end at once, in the middle of a task:
each watches a pipe that is closed then. Ctrl-C is this process's alone: a terminal sends it to all,
and each worker would print where it was.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Final, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tlatrace.errors import ToolError
from tlatrace.heartbeat import heartbeat, left_text

__all__ = ["NoResult", "peak_kb", "quiet_collector", "run_apart", "run_tasks"]

T = TypeVar("T")
R = TypeVar("R")

_AHEAD: Final = 2
"""Tasks that wait for each worker; results are taken as they come, so memory stays flat."""


def run_tasks(
    tasks: Sequence[T],
    work: Callable[[T], R],
    *,
    cores: int | None,
    label: str,
    weight: Callable[[T], int] = lambda _task: 1,
    console: Console | None = None,
) -> Iterator[R]:
    """Yield the result of each task, in any order; a bar on a terminal shows how far it is.

    `work` and the tasks must be picklable. With one core, or one task, all is done in this process.
    `weight` is what a task counts in the bar.

    Raises:
        ToolError: a worker died.
    """
    workers = min(cores or os.cpu_count() or 1, len(tasks))
    console = console or Console(stderr=True)
    total = sum(map(weight, tasks))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    done, began = 0, time.monotonic()
    with (
        heartbeat(f"{label}: 0 of {total:,}") as tell,
        Progress(
            *columns,
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        ) as bars,
    ):
        bar = bars.add_task(label, total=total)

        def count(task: T) -> None:
            nonlocal done
            done += weight(task)
            bars.advance(bar, weight(task))
            left = left_text(done, total, time.monotonic() - began)
            tell(f"{label}: {done:,} of {total:,}" + (f", {left}" if left else ""))

        if workers <= 1:
            with quiet_collector():
                for task in tasks:
                    yield work(task)
                    count(task)
            return
        for task, result in _in_processes(tasks, work, workers):
            count(task)
            yield result


def _in_processes(
    tasks: Sequence[T], work: Callable[[T], R], workers: int
) -> Iterator[tuple[T, R]]:
    context = get_context("spawn")
    watched, wanted = context.Pipe(duplex=False)
    with (
        watched,
        wanted,
        ProcessPoolExecutor(
            workers, mp_context=context, initializer=_start_worker, initargs=(watched,)
        ) as pool,
    ):
        try:
            waiting: dict[Future[R], T] = {}
            rest = iter(tasks)
            with _interrupt_waits():  # here workers start, with the signals that wait here
                for task in rest:
                    waiting[pool.submit(work, task)] = task
                    if len(waiting) >= workers * _AHEAD:
                        break
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    finished = waiting.pop(future)
                    result = future.result()
                    for task in rest:
                        waiting[pool.submit(work, task)] = task
                        break
                    yield finished, result
        except BrokenProcessPool as error:
            raise ToolError("worker", "a worker process died; was it killed?") from error
        except BaseException:
            wanted.close()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class NoResult:
    """Why a task that ran in a process of its own has no result."""

    reason: str


def run_apart(
    tasks: Iterable[T], work: Callable[[T], R], *, workers: int, timeout_s: float
) -> Iterator[tuple[T, R | NoResult]]:
    """Yield each task with its result, in any order; every task has a process of its own.

    It begins with what the module of `work` imports, and nothing that another task has done is in
    it. `work` and the tasks must be picklable. A process that dies, or takes longer than
    `timeout_s`, has no result; the others go on.
    """
    context = get_context("spawn")
    watched, wanted = context.Pipe(duplex=False)
    running: dict[Connection, tuple[SpawnProcess, T, float]] = {}
    waiting = iter(tasks)
    try:
        while True:
            while len(running) < workers:
                task = next(waiting, None)
                if task is None:
                    break
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(
                    target=_work_apart, args=(watched, sender, work, task), daemon=True
                )
                with _interrupt_waits():
                    process.start()
                sender.close()
                running[receiver] = process, task, time.monotonic() + timeout_s
            if not running:
                return
            yield from _ended(running)
    finally:
        for receiver, (process, _, _) in running.items():
            process.kill()
            process.join()
            receiver.close()
        wanted.close()
        watched.close()


def _ended(
    running: dict[Connection, tuple[SpawnProcess, T, float]],
) -> Iterator[tuple[T, R | NoResult]]:
    """Wait until a process has a result, or its time is up; yield what has ended."""
    first_s = min(until for _, _, until in running.values()) - time.monotonic()
    ready = connection.wait(list(running), timeout=max(0.0, first_s))
    for receiver, (process, task, until) in list(running.items()):
        result: R | NoResult
        if receiver in ready:
            try:
                result = receiver.recv()
            except EOFError:
                result = NoResult("its process died")
        elif time.monotonic() >= until:
            result = NoResult("it did not end in time")
            process.kill()
        else:
            continue
        del running[receiver]
        process.join()
        receiver.close()
        yield task, result


def _work_apart(watched: Connection, sender: Connection, work: Callable[[T], R], task: T) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
    sender.send(work(task))


@contextmanager
def _interrupt_waits() -> Iterator[None]:
    """Have SIGINT wait, where the system can; a process that is started here never hears of it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(watched: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
    gc.freeze()
    gc.disable()


def _end_with(watched: Connection) -> None:
    """End this process when the other end of the pipe is closed."""
    watched.poll(None)
    os._exit(1)


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Keep the garbage collector still: it would go through what is remembered over and over."""
    was_on = gc.isenabled()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_on:
            gc.enable()


def peak_kb() -> int:
    """Return the largest resident memory that this process has had, in KB; 0 where nobody tells.

    Windows has no module `resource`, and macOS counts in bytes.
    """
    try:
        import resource
    except ModuleNotFoundError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak

"""The command line: which commands there are, and what becomes of an error.

A command is a module in `rocketproof.commands` with a click object named `command`. It is imported
when it is called, so that `rocketproof --help` does not wait for Spark or z3.

Exit codes, everywhere: 0 conforms (or is as expected), 1 diverges, 2 usage or tool error,
3 undecided. Python's own exit code for an uncaught exception is 1, which would read as "diverges":
so a defect of ours is caught, shown with its traceback, and is a tool error.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

import click

from rocketha.errors import RockethaError
from rocketproof import __version__
from rocketproof.names import did_you_mean
from rocketproof.output import TYPED, print_text
from tlatrace.errors import TlatraceError
from tlatrace.extras import lacking

EXIT_CONFORMS: Final = 0
EXIT_DIVERGES: Final = 1
EXIT_ERROR: Final = 2
EXIT_UNDECIDED: Final = 3
EXIT_INTERRUPTED: Final = 130
EXIT_TERMINATED: Final = 143

_AS_IT_IS: Final = "\b\n"
"""Before a paragraph that click is not to fill anew."""

COMMANDS: Final[tuple[tuple[str, str], ...]] = (
    ("demo", "The main job end to end: check, simulate, validate, catch a bug, write a report."),
    ("doctor", "Java, TLC and the libraries: what was found, where, which version."),
    ("check", "Run TLC and compare its result with the one that the manifest expects."),
    ("rings", "All models, witnesses and mutants of a ring: at every push, or once a week."),
    ("simulate", "Run the implementation once, under faults, and record the run."),
    ("records", "Make one trace of what the nodes of a run wrote, each for itself, and judge it."),
    ("validate", "Hold recorded runs against the TLA+ text."),
    ("explain", "Show the first step of a run that the TLA+ text does not allow, and why."),
    ("view", "What runs are for a higher specification; or the runs themselves, as ITF."),
    ("shrink", "Leave out of a failing run of a group whatever it fails without."),
    ("campaign", "Many simulated runs: does the implementation keep what it promises to clients?"),
    ("crash-points", "One run again and again: a node ends between any two effects of a step."),
    ("corpus", "Generate and validate many runs, in processes of this machine or on Spark."),
    ("bugs", "What can be put into the implementation, and what may befall its runs."),
    ("peer", "Released RocketMQ in processes of this machine, watched and under faults."),
    ("mutants", "Is every known bug found by TLC and by runs of the implementation?"),
    ("mutate-implementation", "Small mutations of the cores: how many of them do runs reject?"),
    ("prove", "Prove theorems about the protocols with z3."),
    ("selfcheck", "Does the compiled model agree with TLC on this machine?"),
)
"""(name, help line) in the order of the help page; the module has that name, with `_` for `-`."""


class LazyGroup(click.Group):
    """A click group whose commands are imported when they are called.

    click offers no other way to list a command without importing it than to override its two
    look-ups, hence the inheritance.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List the commands whose module is there, in the order of `COMMANDS`."""
        return [name for name, _ in COMMANDS if is_ready(name)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of a command and return its `command`."""
        if cmd_name not in dict(COMMANDS) or not is_ready(cmd_name):
            return None
        command = importlib.import_module(_module_of(cmd_name)).command
        assert isinstance(command, click.Command)
        _keep_examples(command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was typed, for commands that say how more is seen."""
        ctx.meta[TYPED] = tuple(args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of one that is not there say what may be meant."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        rows = [(name, text) for name, text in COMMANDS if name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an error of ours becomes one line on standard error and exit code 2."""
        try:
            with ended_in_order():
                return super().invoke(ctx)
        except (TlatraceError, RockethaError) as error:
            print_text(f"rocketproof: {error}", err=True)
            ctx.exit(EXIT_ERROR)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BrokenPipeError:  # whoever read has gone; what is left in buffers goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(EXIT_ERROR)
        except (click.Abort, KeyboardInterrupt):
            click.echo("rocketproof: interrupted", err=True)
            ctx.exit(EXIT_INTERRUPTED)
        except Exception as error:
            lacks = lacking(error) if isinstance(error, ModuleNotFoundError) else None
            if lacks is not None:
                print_text(f"rocketproof: {lacks}", err=True)
                ctx.exit(EXIT_ERROR)
            traceback.print_exc()
            click.echo("rocketproof: this is a defect of rocketproof, not a verdict", err=True)
            ctx.exit(EXIT_ERROR)


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Let SIGTERM end a command as other errors do: whoever started TLC ends it on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(*_: object) -> NoReturn:
    sys.exit(EXIT_TERMINATED)


def _keep_examples(command: click.Command) -> None:
    """Have the help page show an example as it is typed, in one line however narrow it is."""
    if command.epilog and not command.epilog.startswith(_AS_IT_IS):
        command.epilog = _AS_IT_IS + command.epilog
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        _keep_examples(below)


def is_ready(name: str) -> bool:
    """Tell whether the module of a command is there."""
    return importlib.util.find_spec(_module_of(name)) is not None


def _module_of(name: str) -> str:
    return f"rocketproof.commands.{name.replace('-', '_')}"


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": sys.maxsize},
    epilog="Example:  rocketproof check epoch_truncation --model small",
)
@click.version_option(__version__, package_name="rocketproof")
def main() -> None:
    """Hold RocketMQ's high-availability protocols against their TLA+ text.

    Exit codes: 0 conforms or as expected, 1 diverges, 2 usage or tool error, 3 undecided.
    """

"""`rocketproof peer rocketmq name-server`: histories that Route names, with a released name server.

`rocketmq_peer` is imported where it is needed, as in `peer`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import click

from rocketproof.output import print_text

__all__ = ["name_server"]


@click.command("name-server", epilog="Example:  rocketproof peer rocketmq name-server")
@click.option("--version", default="5.5.0", show_default=True, help="The release.")
@click.option("--only", multiple=True, metavar="NAME", help="This history; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine's lines only.")
def name_server(version: str, *, only: tuple[str, ...], as_json: bool) -> None:
    """Say to a released name server what brokers may say late, and look at the route it shows.

    Each history is a mutant of spec/route: where it goes wrong, the name server does what the
    mutant does.

    Exit codes: 0 none goes wrong; 1 some do; 2 a tool is missing, or the release is not fetched; 3
    one did not happen, or none was played.
    """
    from rocketmq_peer.errors import PeerError
    from rocketmq_peer.group import NAME_SERVER, Group, GroupOptions
    from rocketmq_peer.jars import find_jars
    from rocketmq_peer.name_server_histories import HISTORIES, Outcome, play_history

    unknown = sorted(set(only) - HISTORIES.keys())
    if unknown:
        known = ", ".join(HISTORIES)
        raise click.UsageError(f"there is no history {', '.join(unknown)}: there are {known}")
    chosen = [one for name, one in HISTORIES.items() if not only or name in only]
    outcomes: list[Outcome | None] = []
    options = GroupOptions(more_of_name_server={"supportActingMaster": True})
    jars = find_jars(version)
    with (
        tempfile.TemporaryDirectory(prefix="rocketproof-") as own,
        Group(Path(own) / "group", jars, options) as group,
    ):
        group.start_name_server()
        group.wait_serving(NAME_SERVER)
        for history in chosen:
            outcome, words = None, ""
            try:
                outcome = play_history(history, group.ports.name_server)
            except PeerError as error:
                words = str(error)
            outcomes.append(outcome)
            if as_json:
                line: dict[str, str | bool | None] = {"version": version, "history": history.name}
                line |= {"is_wrong": None, "words": words}
                if outcome is not None:
                    line |= {"is_wrong": outcome.is_wrong, "words": outcome.words}
                click.echo(json.dumps(line, sort_keys=True))
                continue
            shown = "not played"
            if outcome is not None:
                shown, words = "goes wrong" if outcome.is_wrong else "right", outcome.words
            print_text(f"{version} {history.name} ({history.question}): {shown}: {words}")
    if not outcomes or None in outcomes:
        sys.exit(3)
    sys.exit(int(any(one is not None and one.is_wrong for one in outcomes)))

"""`rocketproof bugs`: what can be put into the implementation, and what may befall its runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from rocketproof.names import Named
from rocketproof.output import print_text
from rocketproof.protocols import PROTOCOLS
from rocketproof.switches import Switch, bug_switches, fault_switches

__all__ = ["command"]


@click.command(epilog="Example:  rocketproof bugs snapshot_loading")
@click.argument("protocol", required=False, type=Named(PROTOCOLS))
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(protocol: str | None, *, as_json: bool) -> None:
    """List the known bugs that --bug puts into an implementation, and the faults of --faults.

    With PROTOCOL: those of its implementation only.
    """
    bugs = _those_of(protocol, bug_switches())
    faults = _those_of(protocol, fault_switches())
    if as_json:
        answer = {"bugs": [asdict(one) for one in bugs], "faults": [asdict(one) for one in faults]}
        click.echo(json.dumps(answer, indent=2))
        return
    for heading, switches in (("--bug", bugs), ("--faults", faults)):
        print_text(heading)
        width = max((len(one.name) for one in switches), default=0)
        for one in switches:
            print_text(f"  {one.name:<{width}}  {one.line}")
    where = protocol or f"{len(PROTOCOLS)} protocols"
    print_text(f"{len(bugs)} bugs and {len(faults)} faults of {where}")


def _those_of(protocol: str | None, switches: Sequence[Switch]) -> list[Switch]:
    return [one for one in switches if protocol is None or protocol in one.protocols]

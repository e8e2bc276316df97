"""State graphs: the dot files of TLC 2.15, and of later versions as far as they are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlatrace.errors import ToolError
from tlatrace.tlc.state_graph import outgoing, parse_dot, read_dot
from tlatrace.values import ModelValue, canonical, fcn, tla_set

# Written by TLC 2.15 with -dump dot,colorize,actionlabels, shortened to three states.
DOT = r"""strict digraph DiskGraph {
edge [colorscheme="paired12"]
nodesep=0.35;
subgraph cluster_graph {
color="white";
1860792543052863068 [label="/\\ f = (a :> 1 @@ b :> -2)\n/\\ r = [ k |-> <<>>,\n  z |-> {1, 2} ]\n/\\ s = \"q\\\"b\\\\s\\n\\tz]\"\n/\\ x = 0",style = filled]
1860792543052863068 -> -7574640473898535237 [label="Inc",color="2",fontcolor="2"];
-7574640473898535237 [label="/\\ f = (a :> 0 @@ b :> -2)\n/\\ r = SENTINEL\n/\\ s = \"\"\n/\\ x = 1"];
1860792543052863068 -> -7574640473898535237 [label="Inc",color="2",fontcolor="2"];
-7574640473898535237 -> 5 [label="Reset",color="3",fontcolor="3"];
5 [label="/\\ f = << >>\n/\\ r = 1..2\n/\\ s = \"\"\n/\\ x = 2"];
5 -> 5 [label="Reset",color="3",fontcolor="3"];
{rank = same; 1860792543052863068;}
{rank = same; -7574640473898535237;5;}
}
subgraph cluster_legend {graph[style=bold];label = "Next State Actions" style="solid"
node [ labeljust="l",colorscheme="paired12",style=filled,shape=record ]
Inc [label="Inc",fillcolor=2]
2Reset [label="2Reset",fillcolor=3]
}}"""  # noqa: E501  (lines as TLC writes them)


def test_states_steps_and_initial_states_are_read() -> None:
    graph = parse_dot(DOT.splitlines(keepends=True))

    first, second, third = graph.states
    assert (first,) == graph.initial
    assert [first, second, third] == [1860792543052863068, -7574640473898535237, 5]
    assert [
        (first, "Inc", second),
        (second, "Reset", third),
        (third, "Reset", third),
    ] == graph.edges
    assert {first: [("Inc", second)], second: [("Reset", third)], third: [("Reset", third)]} == (
        outgoing(graph)
    )


def test_labels_are_unescaped_before_the_state_is_read() -> None:
    graph = parse_dot(DOT.splitlines())

    first, second, third = graph.states.values()
    assert first["s"] == 'q"b\\s\n\tz]'
    assert canonical(fcn([(ModelValue("a"), 1), (ModelValue("b"), -2)])) == canonical(first["f"])
    assert ModelValue("SENTINEL") == second["r"]
    assert tla_set([1, 2]) == third["r"]


def test_attributes_and_parameters_of_later_versions_are_read() -> None:
    lines = [
        "strict digraph DiskGraph {",
        r'1 [label="x = 0",tooltip="x = 0",style = filled]',
        r'1 -> 1 [label="Inc(\"p]1\")",color="black",fontcolor="black"];',
        "}",
    ]

    graph = parse_dot(lines)

    assert graph.edges == [(1, 'Inc("p]1")', 1)]
    assert graph.states[graph.initial[0]] == {"x": 0}


def test_steps_without_labels_have_an_empty_action() -> None:
    graph = parse_dot(["digraph {", '1 [label="x = 0",style = filled]', "1 -> 1;", "}"])

    assert graph.edges == [(1, "", 1)]


@pytest.mark.parametrize(
    "lines",
    [
        ["digraph {", '1 [label="x = 0",style = filled]'],
        ["digraph {", '1 [label="x = 0"]', '1 -> 2 [label="Inc"];', "}"],
        ["digraph {", '1 [label="x = +"]', "}"],
        ["digraph {", '1 [label="x = 0', "}"],
        ["digraph {", "-x", "}"],
        [],
    ],
    ids=["cut off", "missing state", "bad value", "torn label", "no element", "empty"],
)
def test_a_damaged_file_is_a_tool_error(lines: list[str]) -> None:
    with pytest.raises(ToolError):
        parse_dot(lines)


def test_an_unreadable_file_is_a_tool_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        read_dot(tmp_path / "absent.dot")

    (tmp_path / "bytes.dot").write_bytes(b"\xff\xfe")
    with pytest.raises(ToolError):
        read_dot(tmp_path / "bytes.dot")

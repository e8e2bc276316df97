"""`rocketproof check FILE.tla` by TLC and by the compiled model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main

CARS = """---- MODULE Cars ----
EXTENDS Spaces, TLC
CONSTANTS Car, Most
ASSUME Most > 0
ASSUME PrintT(Most) \\/ Most < Many
VARIABLE parked
Symmetry == Permutations(Car)
Init == parked = {}
Enter(c) == c \\notin parked /\\ Cardinality(parked) < Most /\\ parked' = parked \\cup {c}
Leave(c) == c \\in parked /\\ parked' = parked \\ {c}
Next == \\E c \\in Car : Enter(c) \\/ (Cardinality(parked) < 3 /\\ Leave(c))
Fits == Cardinality(parked) <= Many
Free == <>(parked = {})
====
"""
SPACES = """---- MODULE Spaces ----
EXTENDS Naturals, FiniteSets
Many == 2
====
"""
CONFIG = "INIT Init NEXT Next CONSTANTS Car = {c1, c2, c3} Most = %d\n"


@pytest.fixture
def cars(tmp_path: Path) -> Path:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "Spaces.tla").write_text(SPACES)
    (tmp_path / "Cars.tla").write_text(CARS)
    return tmp_path / "Cars.tla"


def check(module: Path, config: str, *options: str) -> tuple[int, dict[str, object]]:
    path = module.with_suffix(".cfg")
    path.write_text(config)
    call = ["check", str(module), "--library", str(module.parent / "library"), "--json", *options]
    result = CliRunner().invoke(main, call)
    return result.exit_code, json.loads(result.stdout) if result.stdout else {"e": result.stderr}


def both(module: Path, config: str, *options: str) -> tuple[int, dict[str, object]]:
    """Check by TLC, by the model and by its machine code; their answers are the same."""
    answers = []
    for engine in ("tlc", "compiled", "native"):
        code, found = check(module, config, "--engine", engine, *options)
        assert found["engine"] == engine
        states = found.get("states")
        assert isinstance(states, list), found
        seen = {key: found[key] for key in ("outcome", "violated")} | {"length": len(states)}
        if found["outcome"] == "success":
            seen |= {key: found[key] for key in ("distinct", "depth")}
        answers.append((code, seen))
    assert answers[0] == answers[1] == answers[2]
    return answers[0]


@pytest.mark.java
def test_both_engines_count_the_same_with_and_without_symmetry(cars: Path) -> None:
    plain = CONFIG % 2 + "INVARIANT Fits"

    assert both(cars, plain)[1] == {
        "outcome": "success",
        "violated": None,
        "length": 0,
        "distinct": 7,
        "depth": 3,
    }
    assert both(cars, plain + " SYMMETRY Symmetry")[1]["distinct"] == 3


@pytest.mark.java
def test_all_engines_count_states_with_the_same_view_once(cars: Path) -> None:
    text = CARS.replace("Fits ==", "Seen == Cardinality(parked)\nFits ==")
    cars.write_text(text)
    for more, states in (("", 4), (" SYMMETRY Symmetry", 4), (" CONSTRAINT Fits", 3)):
        found = both(cars, CONFIG % 3 + "VIEW Seen" + more, "--no-deadlock")[1]
        assert (found["outcome"], found["distinct"]) == ("success", states)


WHY_NOT: Final = "never taken: Tow: none of 7 states asked gets past Cars.tla:"


@pytest.mark.java
def test_machine_code_counts_actions_and_names_those_never_taken(cars: Path) -> None:
    text = CARS.replace("Next ==", "Tow(c) == Cardinality(parked) > Most /\\ parked' = {}\nNext ==")
    cars.write_text(text.replace("Enter(c) \\/", "Enter(c) \\/ Tow(c) \\/"))
    for most, code, never in ((2, 0, True), (3, 1, False)):
        cars.with_suffix(".cfg").write_text(CONFIG % most + "INVARIANT Fits")
        call = ["check", str(cars), "--library", str(cars.parent / "library")]
        call += ["--engine", "native", "--verbose"]
        result = CliRunner().invoke(main, call)
        assert result.exit_code == code, result.output
        assert (WHY_NOT in result.output) == never
        assert ("Enter           9 generated,         6 new\n" in result.output) == never
        found = json.loads(CliRunner().invoke(main, [*call, "--json"]).stdout)
        assert {"action": "Tow", "generated": 0, "new": 0} in found["actions"]
        assert list(found["never_taken"]) == ["Tow"] * never
        assert sum(one["generated"] for one in found["actions"]) == found["generated"]
    assert check(cars, CONFIG % 2, "--engine", "compiled")[1]["actions"] == []


REFINED = """---- MODULE Refined ----
EXTENDS Cars
full == Cardinality(parked) > 1
Abstract == INSTANCE Lot
Refines == Abstract!Spec
Grows == [][parked \\subseteq parked']_parked
Sum[n \\in 0..9] == IF n = 0 THEN 0 ELSE n + Sum[n - 1]
Sums == [][Sum[Cardinality(parked)] < 4]_parked
OneByOne == [][Cardinality(parked') <= Cardinality(parked) + 1]_parked
Empty == parked # {} /\\ OneByOne
Lasting == OneByOne /\\ WF_parked(Next)
Other == OneByOne
Few == [](Cardinality(parked) < 3)
Fewer == parked = {} /\\ [](Cardinality(parked) < 3) /\\ OneByOne
Fewest == [](Cardinality(parked) < 2)
====
"""
LOT = """---- MODULE Lot ----
VARIABLE full
Spec == full = FALSE /\\ [][full' = ~full]_full
====
"""


@pytest.mark.java
@pytest.mark.parametrize(
    ("config", "outcome", "violated", "length"),
    [
        ("PROPERTIES Refines OneByOne", "success", None, 0),
        ("PROPERTIES Refines Grows", "action property violated", "Grows", 3),
        ("PROPERTIES Few Fewer Refines", "success", None, 0),
        ("PROPERTIES Few Fewest INVARIANT Fits", "invariant violated", "Fewest", 3),
        ("PROPERTY Empty", "action property violated", "Empty", 1),
        ("PROPERTY Grows INVARIANT Fits SYMMETRY Symmetry", "action property violated", "Grows", 3),
        ("PROPERTY Other CONSTANT Other <- Grows", "action property violated", "Other", 3),
    ],
)
def test_all_engines_check_what_properties_say_of_steps(
    cars: Path, config: str, outcome: str, violated: str | None, length: int
) -> None:
    module = cars.with_name("Refined.tla")
    module.write_text(REFINED)
    cars.with_name("Lot.tla").write_text(LOT)
    whole = CONFIG % 2 + config
    if "<-" in config:  # what a configuration replaces stays TLC's
        assert check(module, whole, "--engine", "native")[1]["unchecked"] == [
            "PROPERTY Other (TLC does)"
        ]
        return
    _, found = both(module, whole)
    assert (found["outcome"], found["violated"], found["length"]) == (outcome, violated, length)
    found = check(module, whole + " PROPERTY Lasting", "--engine", "native")[1]
    assert found["unchecked"] == ["PROPERTY Lasting (TLC does)"]


@pytest.mark.java
def test_a_property_that_is_no_machine_code_is_named_and_asked_by_the_compiled_model(
    cars: Path,
) -> None:
    module = cars.with_name("Refined.tla")
    module.write_text(REFINED)
    cars.with_name("Lot.tla").write_text(LOT)
    for engine, code, unchecked in (
        ("native", 3, ["PROPERTY Sums (--engine compiled does)"]),
        ("compiled", 0, []),
    ):
        config = CONFIG % 2 + "PROPERTIES OneByOne Sums"
        answer, found = check(module, config, "--engine", engine)
        assert (answer, found["outcome"], found["engine"]) == (code, "success", engine)
        assert found["unchecked"] == unchecked


@pytest.mark.java
def test_both_engines_find_a_shortest_way_to_a_violation(cars: Path) -> None:
    code, found = both(cars, CONFIG % 3 + "INVARIANT Fits")

    assert (code, found["violated"], found["length"]) == (1, "Fits", 4)


@pytest.mark.java
def test_both_engines_find_a_deadlock_unless_it_may_be(cars: Path) -> None:
    code, found = both(cars, CONFIG % 3)

    assert (code, found["outcome"], found["length"]) == (1, "deadlock", 4)
    code, found = both(cars, CONFIG % 3, "--no-deadlock")
    assert (code, found["outcome"], found["distinct"]) == (0, "success", 8)


@pytest.mark.java
def test_newer_words_of_configurations_are_understood_or_refused(cars: Path) -> None:
    newer = CONFIG % 3 + "CHECK_DEADLOCK FALSE\nALIAS Shown\n"
    code, found = both(cars, newer)
    assert (code, found["outcome"], found["distinct"]) == (0, "success", 8)
    assert both(cars, CONFIG % 3 + "CHECK_DEADLOCK TRUE")[1]["outcome"] == "deadlock"

    late = CONFIG % 2 + "POSTCONDITION Fits"
    code, found = check(cars, late, "--engine", "compiled")
    assert (code, found["unchecked"]) == (3, ["POSTCONDITION Fits (newer TLCs do)"])
    code, found = check(cars, late, "--engine", "tlc")
    if code == 2:  # TLC 2.15
        assert "knows no POSTCONDITION (Fits)" in str(found)


@pytest.mark.java
def test_seq_may_be_bounded_by_an_override(tmp_path: Path) -> None:
    module = tmp_path / "Rows.tla"
    module.write_text(
        "---- MODULE Rows ----\nEXTENDS Sequences, Naturals\nVARIABLE row\n"
        "Short(S) == UNION {[1..n -> S] : n \\in 0..2}\n"
        "Init == row \\in Seq({1, 2})\nNext == UNCHANGED row\n====\n"
    )
    (tmp_path / "library").mkdir()

    code, found = both(module, "INIT Init NEXT Next CONSTANT Seq <- Short")
    assert (code, found["distinct"]) == (0, 7)


@pytest.mark.java
def test_both_engines_find_a_false_assumption(cars: Path) -> None:
    for engine in ("tlc", "compiled"):
        code, found = check(cars, CONFIG % 0, "--engine", engine)
        assert (code, found["outcome"]) == (1, "assumption false")


@pytest.mark.java
def test_a_module_without_variables_is_its_assumptions(tmp_path: Path) -> None:
    module = tmp_path / "Sums.tla"
    module.write_text(
        "---- MODULE Sums ----\nEXTENDS Naturals\nCONSTANT N\n"
        "ASSUME \\A a, b \\in 0..N : a + b = b + a\nASSUME N > 2\n====\n"
    )
    (tmp_path / "library").mkdir()

    for engine in ("tlc", "compiled"):
        code, found = check(module, "CONSTANT N = 4", "--engine", engine)
        assert (code, found["outcome"]) == (0, "success"), found
        code, found = check(module, "CONSTANT N = 1", "--engine", engine)
        assert (code, found["outcome"]) == (1, "assumption false")
    module.write_text(
        "---- MODULE Sums ----\nEXTENDS Naturals, TLC\nCONSTANT N\n"
        "ASSUME N > 2\nASSUME TLCGet(1) = 1\n====\n"
    )
    code, found = check(module, "CONSTANT N = 4", "--engine", "compiled")
    assert (code, found["notes"]) == (3, ["no variables: 1 ASSUMEs were evaluated"])
    assert "the ASSUME at Sums.tla:5:1" in str(found["unchecked"])
    module.write_text("---- MODULE Sums ----\nCONSTANT N\n====\n")
    code, found = check(module, "CONSTANT N = 1", "--engine", "compiled")
    assert (code, "nothing to check" in str(found)) == (2, True)


@pytest.mark.java
def test_what_the_compiled_model_leaves_out_is_said_and_is_undecided(cars: Path) -> None:
    code, found = check(cars, CONFIG % 2 + "PROPERTY Free", "--engine", "compiled")

    assert (code, found["outcome"]) == (3, "success")
    assert found["unchecked"] == ["PROPERTY Free (TLC does)"]
    code, found = check(cars, CONFIG % 2, "--engine", "compiled", "--max-states", "2")
    assert (code, found["outcome"]) == (3, "timeout")


@pytest.mark.java
def test_a_library_that_is_missed_is_an_error(cars: Path) -> None:
    call = ["check", str(cars), "--engine", "compiled"]
    cars.with_suffix(".cfg").write_text(CONFIG % 2)
    result = CliRunner().invoke(main, call)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Spaces" in result.stderr


def test_options_of_a_file_do_not_go_with_a_protocol() -> None:
    for option in (["--no-deadlock"], ["--engine", "compiled"], ["--library", "."]):
        result = CliRunner().invoke(main, ["check", "epoch_truncation", *option])
        assert result.exit_code == 2
        assert f"{option[0]} goes with a FILE.tla" in result.stderr


PICK = """---- MODULE Pick ----
EXTENDS Naturals
CONSTANT Node
VARIABLES leader, n
First == CHOOSE node \\in Node : TRUE
Init == leader = First /\\ n = 0
Count == n < 2 /\\ n' = n + 1 /\\ UNCHANGED leader
Next == Count
====
"""


@pytest.mark.java
def test_choose_may_take_any_where_it_is_said(tmp_path: Path) -> None:
    module = tmp_path / "Pick.tla"
    module.write_text(PICK)
    (tmp_path / "library").mkdir()
    config = "INIT Init NEXT Next CONSTANT Node = {n1, n2}"

    code, found = check(module, config, "--engine", "compiled", "--no-deadlock")
    assert (code, found["outcome"]) == (3, "evaluation error")
    assert "--choose-any" in str(found["message"])
    code, found = check(module, config, "--engine", "compiled", "--no-deadlock", "--choose-any")
    assert (code, found["outcome"], found["distinct"]) == (0, "success", 3)
    assert "TLC may take another" in str(found["notes"])


@pytest.mark.java
def test_a_divergence_by_a_choice_says_so(tmp_path: Path) -> None:
    (tmp_path / "Pick.tla").write_text(PICK)
    (tmp_path / "Pick.cfg").write_text("INIT Init NEXT Next CONSTANT Node = {n1, n2}")
    trace = tmp_path / "t.ndjson"
    states = [{"leader": "n1", "n": 0}, {"leader": "n1", "n": 2}]
    lines = [{"format": "rocketproof-trace", "version": 1, "spec": "Pick"}]
    for step, (action, state) in enumerate(zip(("Init", "Count"), states, strict=True)):
        lines.append({"step": step, "action": action, "params": [], "state": state})
    trace.write_text("\n".join(map(json.dumps, lines)) + "\n")
    call = ["validate", str(trace), "--spec", str(tmp_path / "Pick.tla")]
    call += ["--config", str(tmp_path / "Pick.cfg"), "--engine", "compiled"]

    plain = CliRunner().invoke(main, call)
    chosen = CliRunner().invoke(main, [*call, "--choose-any"])

    assert (plain.exit_code, chosen.exit_code) == (3, 1), plain.stdout + chosen.stdout
    assert "another choice of CHOOSE" in chosen.output


@pytest.mark.parametrize("engine", ["tlc", "compiled"])
def test_a_module_that_is_not_there_is_told_before_its_configuration(
    tmp_path: Path, engine: str
) -> None:
    missing = tmp_path / "Missing.tla"
    result = CliRunner().invoke(main, ["check", str(missing), "--engine", engine])
    assert result.exit_code == 2
    assert result.stderr == f"rocketproof: {missing}: there is no such module\n"


@pytest.mark.java
def test_what_machine_code_is_not_sure_of_the_model_searches(tmp_path: Path) -> None:
    module = tmp_path / "Sums.tla"
    module.write_text(
        "---- MODULE Sums ----\nEXTENDS Naturals\nVARIABLE n\n"
        "Sum[k \\in 0..9] == IF k = 0 THEN 0 ELSE k + Sum[k - 1]\n"
        "RECURSIVE Deep(_)\nDeep(k) == IF k = 0 THEN 0 ELSE Deep(k - 1)\nFar == Deep(200) = n - n\n"
        "Init == n = 0\nNext == n' = (n + 1) % 4\nSmall == Sum[n] < 7\nFew == 6 \\div n < 7\n====\n"
    )
    (tmp_path / "library").mkdir()
    config = "INIT Init NEXT Next INVARIANT "
    for name, why, outcome in (
        ("Small", "invariant Small: Recursive (Sums.tla:4:1)", "success"),
        ("Far", "something has no value, or none that is sure", "success"),
        ("Few", "something has no value, or none that is sure", "evaluation error"),
    ):
        code, found = check(module, config + name, "--engine", "native")
        assert found["engine"] == "compiled"
        assert found["notes"] == [f"not by machine code: {why}"]
        assert found["outcome"] == outcome
        assert code == (0 if outcome == "success" else 3)


@pytest.mark.java
def test_machine_code_shows_the_way_with_the_values_of_the_model(cars: Path) -> None:
    ways = []
    for engine in ("compiled", "native"):
        _, found = check(cars, CONFIG % 3 + "INVARIANT Fits", "--engine", engine)
        assert isinstance(found["states"], list)
        ways.append(found["states"])
    assert [len(way) for way in ways] == [4, 4]
    assert ways[1][1]["action"].startswith("Enter(")
    assert ways[1][-1]["text"] == "/\\ parked = {c1, c2, c3}"

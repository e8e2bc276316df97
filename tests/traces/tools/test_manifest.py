"""What folders declare is read strictly, and every complaint names its entry."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tlatrace.errors import SpecError
from tlatrace.tools.manifest import Manifest, Mutant, libraries_declared, read_manifest
from tlatrace.tools.runs import config_of
from tlatrace.tools.spec_root import spec_root_for

CHECKS = """\
[model]
small = {}
large = { ring = "weekly", deadlock = true }
low = { violates = "High", module = "Low.tla", config = "low.cfg" }

[witness]
NoTwo = { shows = "two" }
NoThree = { shows = "three", model = "large", ring = "weekly" }

[mutant]
B05 = { title = "counts twice", killed_by = "TypeOK", bug = true }
Idle = { title = "never resets", harmless = "nobody waits for it" }
B05_Idle = { title = "counts twice and never resets", killed_by = "TypeOK", seeds = 9 }
B05_High = { title = "counts twice: too high" }
Both.title = "counts twice, otherwise"
Both.override = ["Inc <- B05Inc", "Reset <- Inc"]
Both.against = "TypeOK"
Both.model = "large"

[theorem]
Sum = "proofs.sum"
"""
MEASURED = """\
[model]
small = { found = "holds", distinct = 15, depth = 6, seconds = 2.5, date = 2024-02-28, tlc = "2" }
low = { found = "violates High", length = 3, seconds = 1, date = 2024-02-28, tlc = "2" }
[mutant]
Idle = { found = "holds", distinct = 15, seconds = 1, date = 2024-02-28, tlc = "2" }
B05 = { found = "violates High", length = 3, seconds = 1, date = 2024-02-28, tlc = "2" }
"""
SPEC = "Inc(p) ==\n  TRUE\nReset == Inc(1)\nHigh == TRUE\n"
MUTANTS = "B05Inc(p) == FALSE\nIdleReset == FALSE\nIdleNothing == FALSE\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a folder of specifications with what is above."""
    folder = tmp_path / "counter"
    (folder / "mutants").mkdir(parents=True)
    (folder / "Counter.tla").write_text(SPEC, "utf-8")
    for name in ("MCCounter.tla", "Low.tla", "MCCounter_large.cfg", "low.cfg"):
        (folder / name).write_text("", "utf-8")
    (folder / "MCCounter_small.cfg").write_text("INVARIANT TypeOK\n", "utf-8")
    (folder / "mutants" / "MutCounter.tla").write_text(MUTANTS, "utf-8")
    (folder / "checks.toml").write_text(CHECKS, "utf-8")
    (folder / "measured.toml").write_text(MEASURED, "utf-8")
    (tmp_path / "store").mkdir()
    return tmp_path


def mutant(manifest: Manifest, name: str) -> Mutant:
    return next(m for m in manifest.mutants if m.name == name)


def test_names_say_which_files_and_operators_are_meant(root: Path) -> None:
    manifest, folder = read_manifest(root), root / "counter"
    assert manifest.root == root
    assert manifest.protocols == ("counter",)
    small, large, low = manifest.models
    assert (small.module, small.config) == (
        folder / "MCCounter.tla",
        folder / "MCCounter_small.cfg",
    )
    assert (low.module, low.config) == (folder / "Low.tla", folder / "low.cfg")
    assert (small.deadlock, large.deadlock) == (False, True)
    two, three = manifest.witnesses
    assert (two.violates, two.module, two.config) == ("NoTwo", small.module, small.config)
    assert three.config == large.config
    assert [m.overrides for m in manifest.mutants] == [
        ("Inc <- B05Inc",),
        ("Reset <- IdleReset",),
        ("Inc <- B05Inc", "Reset <- IdleReset"),
        ("Inc <- B05Inc",),
        ("Inc <- B05Inc", "Reset <- Inc"),
    ]
    assert {m.module for m in manifest.mutants} == {folder / "mutants" / "MutCounter.tla"}
    assert mutant(manifest, "Both").config == large.config
    (theorem,) = manifest.theorems
    assert (theorem.name, theorem.module) == ("Sum", "proofs.sum")


def test_a_mutant_is_killed_or_harmless(root: Path) -> None:
    manifest = read_manifest(root)
    killed, harmless = mutant(manifest, "B05"), mutant(manifest, "Idle")
    assert (killed.expect, killed.killed_by, killed.against) == ("killed", "TypeOK", None)
    assert (killed.bug, killed.seeds, mutant(manifest, "B05_Idle").seeds) == (True, None, 9)
    assert (harmless.expect, harmless.killed_by) == ("harmless", None)
    assert harmless.reason == "nobody waits for it"
    for name, property_ in (("B05_High", "High"), ("Both", "TypeOK")):
        one = mutant(manifest, name)
        assert (one.expect, one.killed_by, one.against) == ("killed", property_, property_)


def test_counts_are_those_that_were_measured_of_what_is_declared(root: Path) -> None:
    manifest = read_manifest(root)
    small, large, low = manifest.models
    assert (small.distinct, small.depth, small.length) == (15, 6, None)
    assert (large.distinct, large.depth) == (None, None)
    assert (low.distinct, low.length, low.violates) == (None, 3, "High")
    assert mutant(manifest, "Idle").distinct == 15
    assert mutant(manifest, "B05").length is None, "it was killed by another property"
    assert manifest.witnesses[0].length is None
    (root / "counter" / "measured.toml").unlink()
    assert [m.distinct or m.length for m in read_manifest(root).models] == [None, None, None]


def test_entries_are_of_the_push_ring_unless_they_say_otherwise(root: Path) -> None:
    manifest = read_manifest(root)
    assert [entry.name for entry in manifest.ring("weekly")] == ["large", "NoThree"]
    assert len(manifest.ring("push")) + 2 == len(manifest.checkable)


def test_a_protocol_may_use_the_modules_of_another_one(root: Path) -> None:
    path = root / "counter" / "checks.toml"
    path.write_text('libraries = ["store"]\n' + CHECKS, "utf-8")
    (root / "store" / "Store.tla").write_text("Nothing == TRUE\n", "utf-8")
    manifest = read_manifest(root)
    assert manifest.libraries(manifest.models[0]) == (root / "store",)
    killed = mutant(manifest, "B05")
    assert manifest.libraries(killed) == (root / "counter", root / "store")
    assert mutant(manifest, "Idle").overrides == (
        "Reset <- IdleReset",
        "Nothing <- IdleNothing",
    )
    assert libraries_declared(root / "counter") == (root / "store",)
    assert libraries_declared(root / "store") == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('libraries = ["no"]', r"'libraries' names .*no, which is not there"),
        ("libraries = 3", r"'libraries' must be a list of texts"),
        ("libraries", r"Expected '='"),
    ],
)
def test_libraries_are_asked_for_alone_as_strictly(root: Path, text: str, complaint: str) -> None:
    (root / "counter" / "checks.toml").write_text(text, "utf-8")

    with pytest.raises(SpecError, match=complaint):
        libraries_declared(root / "counter")


def test_protocols_come_by_their_names(root: Path) -> None:
    shutil.copytree(root / "counter", root / "clock")
    manifest = read_manifest(root)
    assert manifest.protocols == ("clock", "counter")
    assert [m.module.parent.name for m in manifest.models] == ["clock"] * 3 + ["counter"] * 3


def test_configurations_of_witnesses_and_mutants_are_derived(root: Path) -> None:
    manifest = read_manifest(root)
    assert config_of(manifest.witnesses[0]).split() == ["INVARIANT", "NoTwo"]
    assert config_of(mutant(manifest, "B05")).endswith("TypeOK\nCONSTANT Inc <- B05Inc\n")
    assert config_of(mutant(manifest, "B05_Idle")) == (
        "INVARIANT TypeOK\nCONSTANT Inc <- B05Inc\nCONSTANT Reset <- IdleReset\n"
    )


def test_a_mutant_is_checked_against_a_property_that_its_configuration_has(root: Path) -> None:
    with pytest.raises(SpecError, match=r"small\.cfg: has no invariant or property High"):
        config_of(mutant(read_manifest(root), "B05_High"))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('ring = "weekly"', 'ring = "daily"', r"\[model\] large: 'ring' must be one of push, w"),
        ("small = {}", "small = 3", r"\[model\] small: must be a table of keys, not 3"),
        ("small = {}", "small = { dephts = 6 }", r"\[model\] small: unknown key 'dephts'"),
        ("small = {}", "tiny = {}", r"\[model\] tiny: 'config' names .*MCCounter_tiny\.cfg, w"),
        ('"Low.tla"', '"Gone.tla"', r"\[model\] low: 'module' names .*Gone\.tla, which is not"),
        ('"low.cfg"', "3", r"\[model\] low: 'config' must be a text, not 3"),
        ('{ shows = "two" }', "{}", r"\[witness\] NoTwo: the key 'shows' is missing"),
        ('model = "large", ring', 'model = "huge", ring', r"no model 'huge' \(known: small, la"),
        ("bug = true", 'bug = "yes"', r"\[mutant\] B05: 'bug' must be true or false"),
        ("seeds = 9", "seeds = -9", r"B05_Idle: 'seeds' must be a count"),
        ("seeds = 9", "seeds = true", r"B05_Idle: 'seeds' must be a count"),
        (', killed_by = "TypeOK", bug', ", bug", r"B05: one of 'killed_by', 'against' and 'harm"),
        (', harmless = "nobody waits for it"', "", r"\[mutant\] Idle: one of 'killed_by'"),
        ("harmless =", 'killed_by = "A", harmless =', r"Idle: 'killed_by' stands alone"),
        ("Both.against", 'Both.killed_by = "A"\nBoth.against', r"'killed_by' stands alone"),
        ('title = "counts twice", ', "", r"\[mutant\] B05: the key 'title' is missing"),
        ("Idle = {", "Idol = {", r"Idol: MutCounter\.tla replaces no operator .*after Idol"),
        ("B05_Idle = {", "B06_Idle = {", r"B06_Idle: .*one named after B06"),
        ('["Inc <- B05Inc", "Reset <- Inc"]', '"Inc"', r"Both: 'override' must read"),
        ('["Inc <- B05Inc", "Reset <- Inc"]', "[]", r"Both: 'override' is an empty list"),
        ('"Inc <- B05Inc", "Reset <- Inc"', '"A <- B", 3', r"'override' must read .*not 3"),
        ('"Inc <- B05Inc", "Reset <- Inc"', '"A <- B", "A <- C"', r"replaces one .* twice"),
        ('"proofs.sum"', "3", r"\[theorem\]: 'Sum' must be a text"),
        ("[theorem]", "[lemma]", r"checks\.toml: unknown key 'lemma'"),
        ("[theorem]\nSum", "[[theorem]]\nSum", r"\[theorem\]: must be a table of keys"),
        ("[witness]\n", "[[witness]]\n", r"'witness' must be a table, \[witness\]"),
        ("[model]", "libraries = 3\n[model]", r"'libraries' must be a list of texts"),
        ("[model]", 'libraries = ["no"]\n[model]', r"'libraries' names .*no, which is not there"),
        ("[model]", 'module = "No.tla"\n[model]', r"'module' names .*No\.tla, which is not"),
        ("small = {}", "small = ", r"checks\.toml: .*line 2"),
        ("large = {", "small = {", r"checks\.toml: .*line 3"),
    ],
)
def test_a_mistake_is_named(root: Path, old: str, new: str, complaint: str) -> None:
    assert old in CHECKS
    (root / "counter" / "checks.toml").write_text(CHECKS.replace(old, new, 1), "utf-8")
    with pytest.raises(SpecError, match=complaint):
        read_manifest(root)


def test_a_module_that_is_not_named_is_the_only_one_of_its_kind(root: Path) -> None:
    (root / "counter" / "MCOther.tla").write_text("", "utf-8")
    with pytest.raises(SpecError, match=r"'module' must say .* are MCCounter\.tla, MCOther\.tla"):
        read_manifest(root)
    (root / "counter" / "MCOther.tla").unlink()
    (root / "counter" / "mutants" / "MutCounter.tla").unlink()
    with pytest.raises(SpecError, match=r"'mutants_module' must say which .*Mut\*\.tla are none"):
        read_manifest(root)


def test_bytes_that_are_no_text_are_the_authors_error(root: Path) -> None:
    (root / "counter" / "checks.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="utf-8"):
        read_manifest(root)


@pytest.mark.parametrize("folder", [".", "counter"])
def test_a_file_of_the_older_form_is_refused_with_what_to_do(root: Path, folder: str) -> None:
    (root / folder / "manifest.toml").write_text("", "utf-8")
    with pytest.raises(SpecError, match=r"older form: .* has a checks\.toml of its own"):
        read_manifest(root)
    if folder == ".":
        (root / "counter" / "checks.toml").unlink()
        assert spec_root_for(root, environment={}, working=root, places=()) == root.resolve()


def test_a_folder_without_any_is_no_folder_of_specifications(root: Path) -> None:
    (root / "counter" / "checks.toml").unlink()
    with pytest.raises(SpecError, match=r"no folder with checks\.toml"):
        read_manifest(root)


def test_the_folder_is_found_in_order(tmp_path: Path, root: Path) -> None:
    named, checkout = tmp_path / "named", tmp_path / "checkout"
    for folder in (named, checkout / "spec", tmp_path / "work" / "spec"):
        (folder / "clock").mkdir(parents=True)
        (folder / "clock" / "checks.toml").write_text("", "utf-8")
    inner = tmp_path / "work" / "deep" / "deeper"
    inner.mkdir(parents=True)
    places = (tmp_path / "gone", checkout)
    variable = {"ROCKETPROOF_SPEC_ROOT": str(named)}

    def found(wish: Path | None, environment: dict[str, str], working: Path) -> Path:
        return spec_root_for(wish, environment=environment, working=working, places=places)

    assert found(root, variable, inner) == root.resolve()
    assert found(None, variable, inner) == named.resolve()
    assert found(None, {}, inner) == (tmp_path / "work" / "spec").resolve()
    assert found(None, {}, named) == (checkout / "spec").resolve()
    with pytest.raises(SpecError, match=r"no folder in this folder has a checks\.toml"):
        found(inner, {}, inner)

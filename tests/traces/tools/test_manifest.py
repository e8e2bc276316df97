"""The manifest is read strictly, and every complaint names its entry."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tlatrace.errors import SpecError
from tlatrace.tools.manifest import Manifest, Mutant, read_manifest
from tlatrace.tools.runs import config_of
from tlatrace.tools.spec_root import spec_root_for

MANIFEST = """\
[[model]]
protocol = "counter"
name = "small"
module = "Counter.tla"
config = "small.cfg"
expect = "holds"
ring = "push"
distinct = 15
depth = 6

[[witness]]
protocol = "counter"
name = "NoTwo"
module = "Counter.tla"
config = "small.cfg"
violates = "NoTwo"
shows = "two"
length = 3

[[mutant]]
protocol = "counter"
name = "B05"
title = "counts twice"
module = "mutants/Mut.tla"
config = "small.cfg"
override = "Inc <- B05Inc"
expect = "killed"
killed_by = "TypeOK"
length = 4
bug = true

[[mutant]]
protocol = "counter"
name = "Idle"
title = "never resets"
module = "mutants/Mut.tla"
config = "small.cfg"
override = "Reset <- IdleReset"
expect = "harmless"
reason = "nobody waits for it"

[[mutant]]
protocol = "counter"
name = "B05_Idle"
title = "counts twice and never resets"
module = "mutants/Mut.tla"
config = "small.cfg"
override = ["Inc <- B05Inc", "Reset <- IdleReset"]
against = "TypeOK"
expect = "killed"
killed_by = "TypeOK"

[[theorem]]
protocol = "counter"
name = "Sum"
module = "proofs.sum"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a folder of specifications with the manifest above."""
    (tmp_path / "counter" / "mutants").mkdir(parents=True)
    (tmp_path / "counter" / "Counter.tla").write_text("", "utf-8")
    (tmp_path / "counter" / "small.cfg").write_text("INVARIANT TypeOK\n", "utf-8")
    (tmp_path / "counter" / "mutants" / "Mut.tla").write_text("", "utf-8")
    (tmp_path / "store").mkdir()
    (tmp_path / "manifest.toml").write_text(MANIFEST, "utf-8")
    return tmp_path


def mutant(manifest: Manifest, name: str) -> Mutant:
    return next(m for m in manifest.mutants if m.name == name)


def test_all_entries_are_read(root: Path) -> None:
    manifest = read_manifest(root)
    assert manifest.root == root
    assert manifest.protocols == ("counter",)
    (model,), (witness,), (theorem,) = manifest.models, manifest.witnesses, manifest.theorems
    assert (model.distinct, model.depth, model.seconds, model.deadlock) == (15, 6, None, False)
    assert (witness.violates, witness.length) == ("NoTwo", 3)
    assert theorem.module == "proofs.sum"
    killed, harmless = mutant(manifest, "B05"), mutant(manifest, "Idle")
    assert (killed.killed_by, killed.bug, killed.seeds) == ("TypeOK", True, None)
    assert killed.overrides == ("Inc <- B05Inc",)
    assert mutant(manifest, "B05_Idle").overrides == ("Inc <- B05Inc", "Reset <- IdleReset")
    assert (harmless.killed_by, harmless.reason) == (None, "nobody waits for it")
    assert manifest.libraries(killed) == (root / "counter",)
    assert manifest.libraries(model) == ()


def test_witnesses_and_mutants_are_of_the_push_ring_unless_they_say_otherwise(root: Path) -> None:
    manifest = read_manifest(root)
    assert manifest.ring("push") == manifest.checkable
    assert manifest.ring("weekly") == ()
    text = MANIFEST.replace("length = 3\n", 'length = 3\nring = "weekly"\n')
    text = text.replace("bug = true\n", 'bug = true\nring = "weekly"\n')
    (root / "manifest.toml").write_text(text, "utf-8")
    manifest = read_manifest(root)
    assert [entry.name for entry in manifest.ring("weekly")] == ["NoTwo", "B05"]
    assert [entry.name for entry in manifest.ring("push")] == ["small", "Idle", "B05_Idle"]


def test_a_protocol_may_use_the_modules_of_another_one(root: Path) -> None:
    with (root / "manifest.toml").open("a", encoding="utf-8") as file:
        file.write('[[library]]\nprotocol = "counter"\nfolder = "store"\n')
    manifest = read_manifest(root)
    assert manifest.libraries(manifest.models[0]) == (root / "store",)
    assert manifest.libraries(mutant(manifest, "B05")) == (root / "counter", root / "store")


def test_a_protocol_may_have_a_manifest_of_its_own(root: Path) -> None:
    shutil.copytree(root / "counter", root / "clock")
    own = root / "clock" / "manifest.toml"
    own.write_text(MANIFEST.replace('"counter"', '"clock"'), "utf-8")
    manifest = read_manifest(root)
    assert manifest.protocols == ("counter", "clock")
    assert [m.module.parent for m in manifest.models] == [root / "counter", root / "clock"]
    assert manifest.file_of("clock") == own
    assert manifest.file_of("counter") == manifest.path == root / "manifest.toml"


def test_all_of_a_protocol_stands_in_one_manifest(root: Path) -> None:
    own = root / "counter" / "manifest.toml"
    own.write_text("", "utf-8")
    with pytest.raises(SpecError, match=r"counter/small\): what is of counter stands in .*counter"):
        read_manifest(root)
    (root / "manifest.toml").write_text("", "utf-8")
    own.write_text(MANIFEST.replace('"counter"', '"clock"'), "utf-8")
    with pytest.raises(SpecError, match=r"what is of clock stands in"):
        read_manifest(root)


def test_a_model_may_be_known_to_fall(root: Path) -> None:
    text = MANIFEST.replace(
        'expect = "holds"', 'expect = "violated"\nviolates = "TypeOK"\nlength = 4'
    )
    text = text.replace("distinct = 15\n", "", 1).replace("depth = 6\n", "", 1)
    (root / "manifest.toml").write_text(text, "utf-8")
    (model,) = read_manifest(root).models
    assert (model.violates, model.length, model.distinct) == ("TypeOK", 4, None)


def test_configurations_of_witnesses_and_mutants_are_derived(root: Path) -> None:
    manifest = read_manifest(root)
    assert config_of(manifest.witnesses[0]).split() == ["INVARIANT", "NoTwo"]
    assert config_of(mutant(manifest, "B05")).endswith("TypeOK\nCONSTANT Inc <- B05Inc\n")
    assert config_of(mutant(manifest, "B05_Idle")) == (
        "\nINVARIANT TypeOK\nCONSTANT Inc <- B05Inc\nCONSTANT Reset <- IdleReset\n"
    )


def test_a_mutant_is_checked_against_a_property_that_its_configuration_has(root: Path) -> None:
    text = MANIFEST.replace('against = "TypeOK"', 'against = "TypeOk"').replace(
        'killed_by = "TypeOK"\n\n[[theorem]]', 'killed_by = "TypeOk"\n\n[[theorem]]'
    )
    (root / "manifest.toml").write_text(text, "utf-8")
    with pytest.raises(SpecError, match=r"small\.cfg: has no invariant or property TypeOk"):
        config_of(mutant(read_manifest(root), "B05_Idle"))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('ring = "push"', 'ring = "daily"', r"\[\[model\]\] number 1 \(counter/small\): 'ring'"),
        ("length = 3", 'ring = "daily"', r"counter/NoTwo\): 'ring' must be one of push, weekly"),
        ('ring = "push"', "", r"counter/small\): the key 'ring' is missing"),
        ("depth = 6", "depht = 6", r"counter/small\): unknown key 'depht'"),
        ("distinct = 15", 'distinct = "15"', r"counter/small\): 'distinct' must be a count"),
        ("distinct = 15", "distinct = true", r"counter/small\): 'distinct' must be a count"),
        ("distinct = 15", "distinct = -1", r"counter/small\): 'distinct' must be a count"),
        ('"Counter.tla"', '"Gone.tla"', r"'module' names .*Gone\.tla, which is not there"),
        ('violates = "NoTwo"', "violates = 3", r"counter/NoTwo\): 'violates' must be a text"),
        ("bug = true", 'bug = "yes"', r"\[\[mutant\]\] number 1 .*'bug' must be true or false"),
        ('killed_by = "TypeOK"', "", r"counter/B05\): the key 'killed_by' is missing"),
        ('"Inc <- B05Inc"', '"Inc"', r"counter/B05\): 'override' must read"),
        ('"Inc <- B05Inc"', "[]", r"counter/B05\): 'override' is an empty list"),
        ('"Inc <- B05Inc"', '["A <- B", 3]', r"counter/B05\): 'override' must read .*not 3"),
        ('"Inc <- B05Inc"', '["A <- B", "A <- C"]', r"counter/B05\): .* replaces one .* twice"),
        ('override = "Inc <- B05Inc"', "", r"counter/B05\): the key 'override' is missing"),
        ('against = "TypeOK"', 'against = "Inv"', r"'killed_by' must be the property that"),
        ('reason = "nobody waits for it"', "", r"counter/Idle\): the key 'reason' is missing"),
        ('"holds"', '"violated"', r"counter/small\): the key 'violates' is missing"),
        ("[[theorem]]", '[[library]]\nfolder = "no"', r"\[\[library\]\] .*counter/no.*not there"),
        ('name = "Idle"', 'name = "B05"', r"\[\[mutant\]\] counter/B05: twice"),
        ('name = "Sum"', "", r"\[\[theorem\]\] number 1 \(counter/\?\): the key 'name'"),
        ("[[theorem]]", "[[lemma]]", r"unknown table \[\[lemma\]\]"),
        ("[[theorem]]", "[theorem]", r"'theorem' must be a list of tables"),
        ("depth = 6", "depth = ", r"manifest\.toml: .*line 9"),
    ],
)
def test_a_mistake_is_named(root: Path, old: str, new: str, complaint: str) -> None:
    assert old in MANIFEST
    (root / "manifest.toml").write_text(MANIFEST.replace(old, new, 1), "utf-8")
    with pytest.raises(SpecError, match=complaint):
        read_manifest(root)


def test_bytes_that_are_no_text_are_the_authors_error(root: Path) -> None:
    (root / "manifest.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="utf-8"):
        read_manifest(root)


def test_the_folder_is_found_in_order(tmp_path: Path, root: Path) -> None:
    named, checkout = tmp_path / "named", tmp_path / "checkout"
    for folder in (named, checkout / "spec", tmp_path / "work" / "spec"):
        folder.mkdir(parents=True)
        (folder / "manifest.toml").write_text("", "utf-8")
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
    with pytest.raises(SpecError, match=r"no manifest\.toml in this folder"):
        found(inner, {}, inner)

"""Where modules are looked for: SANY, TLC and the compiled model find the same ones."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import SpecError
from tlatrace.oracle import load_model
from tlatrace.tla.declarations import read_declarations
from tlatrace.tools.module_folders import COMMUNITY, library_folders, module_folders
from tlatrace.tools.tlc import Outcome, run_tlc

COMMON: Final = "---- MODULE Steps ----\nEXTENDS Naturals\nUp(n) == n + {by}\n====\n"
SPEC: Final = """\
---- MODULE Spec ----
EXTENDS Steps
VARIABLE x
Init == x = 0
Next == x < 4 /\\ x' = Up(x)
Even == x % 2 = 0
====
"""
MUTANT: Final = "---- MODULE Mutant ----\nEXTENDS Spec\nB01Up(n) == n + 1\n====\n"
CONFIG: Final = "INIT Init\nNEXT Next\nINVARIANT Even\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Specifications of one protocol, which needs a module of the folder `common` beside it."""
    for folder in ("common", "counter/mutants", "library"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "counter" / "checks.toml").touch()
    (tmp_path / "common" / "Steps.tla").write_text(COMMON.format(by=2))
    (tmp_path / "counter" / "mutants" / "Mutant.tla").write_text(MUTANT)
    (tmp_path / "counter" / "Spec.cfg").write_text(CONFIG)
    module = tmp_path / "counter" / "Spec.tla"
    module.write_text(SPEC)
    return module


def test_the_own_folder_is_the_first_and_ours_is_the_last(spec: Path) -> None:
    root, library = spec.parents[1], spec.parents[1] / "library"
    assert module_folders(spec, [library]) == (spec.parent, library, root / "common", COMMUNITY)
    mutant = spec.parent / "mutants" / "Mutant.tla"
    assert library_folders(mutant) == (COMMUNITY,)
    assert library_folders(mutant, [spec.parent]) == (spec.parent, root / "common", COMMUNITY)


def test_a_folder_common_of_somebody_else_is_none_of_ours(spec: Path) -> None:
    spec.with_name("checks.toml").unlink()
    assert library_folders(spec) == (COMMUNITY,)


@pytest.mark.java
def test_sany_tlc_and_the_model_find_the_common_modules(spec: Path) -> None:
    config = spec.with_suffix(".cfg")
    assert read_declarations(spec).operators["Up"].module == "Steps"
    assert run_tlc(spec, config).distinct == 3
    assert load_model(spec, config).next == "Next"


@pytest.mark.java
def test_a_mutant_finds_them_through_the_folder_of_its_protocol(spec: Path) -> None:
    mutant = spec.parent / "mutants" / "Mutant.tla"
    config = spec.parent / "Mutant.cfg"
    config.write_text(CONFIG + "CONSTANT Up <- B01Up\n")
    run = run_tlc(mutant, config, libraries=[spec.parent])
    assert (run.outcome, run.violated) == (Outcome.INVARIANT, "Even")


@pytest.mark.java
def test_a_module_of_a_library_comes_before_a_common_one(spec: Path) -> None:
    library = spec.parents[1] / "library"
    (library / "Steps.tla").write_text(COMMON.format(by=1))
    assert run_tlc(spec, spec.with_suffix(".cfg"), libraries=[library]).violated == "Even"


@pytest.mark.java
def test_a_model_is_compiled_anew_when_a_common_module_changes(spec: Path) -> None:
    config = spec.with_suffix(".cfg")
    before = load_model(spec, config).fingerprint
    (spec.parents[1] / "common" / "Steps.tla").write_text(COMMON.format(by=4))
    assert load_model(spec, config).fingerprint != before


@pytest.mark.java
def test_without_the_common_folder_the_module_is_refused(spec: Path) -> None:
    spec.with_name("checks.toml").unlink()
    with pytest.raises(SpecError, match="Steps"):
        read_declarations(spec)

"""What is said where an extra is not installed, and that the table of extras is whole."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from rocketproof.commands.corpus import suited_driver
from tests.source_files import ROOT, SOURCE_ROOTS, imported_modules, parsed, python_files
from tlatrace.errors import ToolError
from tlatrace.extras import EXTRAS, installed, lacking, need
from tlatrace.tools.java import resolve_java

_BASE: Final = {"click", "msgspec", "rich"}
_OURS: Final = {"dledger_peer", "rocketha", "rocketmq_peer", "rocketproof", "tlatrace"}


def without(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the modules of an extra as if they were not installed."""
    for module in EXTRAS[extra]:
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.parametrize("extra", list(EXTRAS))
def test_each_extra_is_missed_by_its_name(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(extra)
    assert installed(extra)
    without(extra, monkeypatch)
    assert not installed(extra)
    with pytest.raises(ToolError, match=rf"is not installed: pip install 'rocketproof\[{extra}\]'"):
        need(extra)
    for module in EXTRAS[extra]:
        said = str(lacking(ModuleNotFoundError(name=f"{module}.inner")))
        assert said == f"{module}: is not installed: pip install 'rocketproof[{extra}]'"


def test_other_failed_imports_are_defects() -> None:
    assert lacking(ModuleNotFoundError(name="tlatrace.gone")) is None
    assert lacking(ModuleNotFoundError(name="pyarrow.gone")) is None  # it is installed
    assert lacking(ModuleNotFoundError()) is None


def test_all_that_is_imported_is_of_the_base_or_of_an_extra() -> None:
    imported = {
        module.partition(".")[0]
        for path in python_files(*SOURCE_ROOTS)
        for module in imported_modules(parsed(path))
    }
    foreign = imported - _OURS - sys.stdlib_module_names - {""}
    of_extras = {module for modules in EXTRAS.values() for module in modules}
    assert foreign <= _BASE | of_extras
    assert {"click", "pyarrow", "z3"} <= foreign


def test_the_project_has_these_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(extras) == {*EXTRAS, "all"}
    (everything,) = extras["all"]
    assert set(re.split(r"[\[\],]", everything)[1:-1]) == set(EXTRAS)


def test_a_report_is_missed_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("report", monkeypatch)
    page = tmp_path / "page.html"
    told = CliRunner().invoke(main, ["corpus", "validate", "nowhere", "--report", str(page)])
    assert told.exit_code == 2
    assert told.stderr.endswith("jinja2: is not installed: pip install 'rocketproof[report]'\n")
    assert not page.exists()


def test_spark_is_not_chosen_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    without("spark", monkeypatch)
    assert suited_driver(10_000_000) == "local"


def test_java_is_missed_in_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    without("java", monkeypatch)
    with pytest.raises(ToolError, match=r"no Java 17 or newer .*: pip install 'rocketproof\[java"):
        resolve_java({})


def test_test_machines_say_what_they_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    without("testing", monkeypatch)
    for module in [name for name in sys.modules if name.startswith("tlatrace.testing")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ToolError, match=r"pip install 'rocketproof\[testing\]'"):
        importlib.import_module("tlatrace.testing")

"""The rules of ARCHITECTURE.md: who may import whom, and that the links to the specs are alive."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from pathlib import Path
from typing import Final

import pytest

from tests.source_files import (
    ROOT,
    SOURCE_ROOTS,
    WITHOUT_BUGS,
    imported_modules,
    module_name,
    parsed,
    python_files,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRule:
    """Modules within `where`, except those within `except_in`, do not import `what`."""

    where: str
    what: str
    except_in: str = "nowhere"
    """Names of packages, with spaces between them."""
    why: str

    def forbids(self, module: str, imported: str) -> bool:
        """Tell whether a module breaks the rule with an import."""
        return (
            within(module, self.where)
            and not any(within(module, one) for one in self.except_in.split())
            and within(imported, self.what)
        )


def within(module: str, package: str) -> bool:
    return package == "" or module == package or module.startswith(package + ".")


RULES: Final = (
    *(
        ImportRule(
            where="rocketha.runtime", what=f"rocketha.{of}", why="the host knows no protocol"
        )
        for of in (
            *("broker", "controller", "dledger", "epoch", "escape", "ha", "legacy_ha", "locks"),
            *("pre_online", "sim"),
        )
    ),
    ImportRule(
        where="rocketha", what="rocketha.sim", except_in="rocketha.sim", why="cores are simulated"
    ),
    *(
        ImportRule(
            where=f"rocketha.{core}",
            what="rocketha.known_bugs",
            why="a core reads as if there were no bugs",
        )
        for core in WITHOUT_BUGS
    ),
    ImportRule(where="rocketha", what="tlatrace", why="the subject does not know its judge"),
    ImportRule(where="rocketha", what="rocketproof", why="the subject does not know its judge"),
    ImportRule(where="tlatrace", what="rocketha", why="the oracle does not know the subject"),
    ImportRule(where="tlatrace", what="rocketproof", why="the toolchain serves any system"),
    *(
        ImportRule(
            where=f"tlatrace.{earlier}", what=f"tlatrace.{later}", why="a pipeline has no way back"
        )
        for stages in (
            ("tla", "compiler", "oracle", "explore", "selfcheck"),
            ("compiler.ir", "compiler.lower", "compiler.passes", "compiler.emit_python"),
            ("runtime", "compiler"),
            ("oracle", "matching", "testing"),
            ("oracle", "corpus"),
        )
        for earlier, later in combinations(stages, 2)
    ),
    ImportRule(where="", what="pyspark", except_in="tlatrace.corpus", why="Spark has one place"),
    ImportRule(where="", what="hypothesis", except_in="tlatrace.testing", why="tests have it"),
    ImportRule(where="", what="llvmlite", except_in="tlatrace.machine_code", why="it is an extra"),
    *(
        ImportRule(where=of, what="subprocess", except_in=place, why="Java has one place")
        for of, place in (
            ("rocketha", "nowhere"),
            ("dledger_peer", "nowhere"),
            ("rocketmq_peer", "rocketmq_peer.processes"),
            ("rocketproof", "nowhere"),
            ("tlatrace", "tlatrace.tools"),
        )
    ),
    *(
        ImportRule(where=of, what=judge, why="the peer does not know its judge")
        for of in ("dledger_peer", "rocketmq_peer")
        for judge in ("tlatrace", "rocketproof")
    ),
    *(
        ImportRule(where=of, what="rocketmq_peer", why="all else works without peers")
        for of in ("rocketha", "tlatrace")
    ),
    *(
        ImportRule(where=of, what="dledger_peer", why="all else works without peers")
        for of in ("rocketha", "rocketmq_peer", "rocketproof", "tlatrace")
    ),
    ImportRule(
        where="rocketproof",
        what="rocketmq_peer",
        except_in="rocketproof.commands.peer rocketproof.commands.peer_interop "
        "rocketproof.commands.peer_ledger rocketproof.commands.peer_mixed "
        "rocketproof.commands.peer_name_server "
        "rocketproof.peer_runs rocketproof.peer_hunt",
        why="all else works without peers",
    ),
    ImportRule(where="", what="multiprocessing", except_in="tlatrace.corpus", why="workers"),
    ImportRule(where="", what="tests", why="tests are not shipped"),
    ImportRule(where="", what="model_tests", why="tests are not shipped"),
    ImportRule(where="", what="pickle", why="input is never unpickled"),
    ImportRule(where="", what=".", why="one way to write an import: the absolute one"),
)
SOURCES: Final = tuple(python_files(*SOURCE_ROOTS))


def breaches(module: str, tree: ast.Module) -> list[str]:
    """Say which rules a module breaks."""
    return [
        f"{module} imports {imported}: {rule.why}"
        for imported in sorted(imported_modules(tree))
        for rule in RULES
        if rule.forbids(module, imported) or (rule.what == "." and imported.startswith("."))
    ]


def test_imports_keep_the_rules() -> None:
    assert len(SOURCES) > 20
    found = [line for path in SOURCES for line in breaches(module_name(path), parsed(path))]
    assert found == []


def imports_between(texts: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Give what each module imports of the others, also for the sake of types only.

    `from package import module` is an import of that module, and of the package only where a name
    of the package itself is taken.
    """
    graph: dict[str, set[str]] = {}
    for module, tree in texts.items():
        taken: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                taken.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                taken |= {name if name in texts else node.module for name in names}
        graph[module] = (taken & texts.keys()) - {module}
    return graph


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Give the modules of a circle, if there is one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_imports_make_no_circle() -> None:
    tested = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): parsed(path)
        for path in python_files(ROOT / "tests", ROOT / "model_tests")
    }
    graph = imports_between({module_name(path): parsed(path) for path in SOURCES} | tested)
    for package in ("rocketha", "tlatrace", "rocketproof", "tests", "model_tests"):
        found = [len(of) for module, of in graph.items() if within(module, package)]
        assert sum(found) > 100, f"the imports of {package} were not looked at"
    assert circle(graph) == []


def test_a_circle_is_seen_where_only_types_need_it() -> None:
    later = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import a"
    texts = {"p.a": "import p.b", "p.b": "from p.c import C", "p.c": later}
    found = circle(imports_between({name: ast.parse(text) for name, text in texts.items()}))
    assert set(found) == {"p.a", "p.b", "p.c"}


def test_a_circle_through_a_package_is_seen() -> None:
    package = {"p": "from p.a import A", "p.a": "from p import A, b", "p.b": ""}
    apart = {**package, "p.a": "from p import b"}
    for texts, found in ((package, {"p", "p.a"}), (apart, set())):
        graph = imports_between({name: ast.parse(text) for name, text in texts.items()})
        assert set(circle(graph)) == found


def test_only_corpora_have_worker_processes() -> None:
    starters = re.compile(r"\bProcessPoolExecutor\b|\bos\.(?:fork|spawn|exec|system|popen)\w*\(")
    found = {module_name(path) for path in SOURCES if starters.search(path.read_text("utf-8"))}
    assert "tlatrace.corpus.processes" in found
    assert [module for module in sorted(found) if not within(module, "tlatrace.corpus")] == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("rocketha.ha.slave", "from tlatrace.values import Value"),
        ("rocketha.ha.slave", "import rocketproof.cli"),
        ("rocketha.ha.slave", "from rocketha.known_bugs.bug import Bug"),
        ("rocketha.ha.slave", "from rocketha.sim.engine.clock import Clock"),
        ("rocketha.runtime.node_host", "from rocketha.ha.state import Role"),
        ("tlatrace.tlc.batch", "def f():\n    import rocketha"),
        ("tlatrace.tlc.batch", "from pyspark.sql import SparkSession"),
        ("tlatrace.tlc.batch", "from hypothesis import settings"),
        ("tlatrace.oracle.native", "from llvmlite import binding"),
        ("rocketproof.commands.demo", "import subprocess"),
        ("rocketmq_peer.proxy", "import subprocess"),
        ("rocketmq_peer.proxy", "import tlatrace.values"),
        ("dledger_peer.group", "import subprocess"),
        ("dledger_peer.group", "import rocketproof.output"),
        ("rocketmq_peer.group", "import dledger_peer.group"),
        ("rocketproof.runs", "import rocketmq_peer.group"),
        ("rocketproof.commands.check", "import rocketmq_peer.group"),
        ("rocketha.ha.slave", "import rocketmq_peer.group"),
        ("rocketproof.commands.demo", "from . import check"),
        ("tlatrace.tools.tlc", "from multiprocessing import Process"),
        ("tlatrace.tla.sources", "from tlatrace.compiler.ir.nodes import Expr"),
        ("tlatrace.compiler.job", "from tlatrace.oracle.model import Model"),
        ("tlatrace.compiler.ir.analysis", "from tlatrace.compiler.passes.paths import Path"),
        ("tlatrace.compiler.passes.paths", "from tlatrace.compiler.emit_python import writer"),
        ("tlatrace.oracle.model", "from tlatrace.matching.verdict import Verdict"),
        ("tlatrace.corpus.session", "from tests.source_files import ROOT"),
    ],
)
def test_a_forbidden_import_is_seen(module: str, text: str) -> None:
    assert len(breaches(module, ast.parse(text))) == 1


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("tlatrace.corpus.session", "from pyspark.sql import SparkSession"),
        ("tlatrace.tools.tlc", "import subprocess"),
        (
            "tlatrace.compiler.emit_python.actions",
            "from tlatrace.compiler.passes.paths import Path",
        ),
        ("rocketmq_peer.processes", "import subprocess"),
        ("rocketproof.commands.peer", "import rocketmq_peer.group"),
        ("rocketproof.commands.peer_interop", "import rocketmq_peer.interop"),
        ("rocketproof.protocols.epoch", "import rocketha.ha.slave, tlatrace.values"),
    ],
)
def test_an_allowed_import_is_let_be(module: str, text: str) -> None:
    assert breaches(module, ast.parse(text)) == []


# ---- Links from the implementation to the specifications ----

_SPEC_LINE: Final = re.compile(r"^\s*Spec:\s*(.*?)\s*$", re.MULTILINE)
_SOURCE_LINE: Final = re.compile(r"^\s*Source:\s*(\S.*)$", re.MULTILINE)
_LINK: Final = re.compile(r"(\w+)!(\w+)")
_DEFINITION: Final = re.compile(
    r"^(?:LOCAL\s+)?([A-Za-z]\w*)\s*(?:\([^=\n]*\))?\s*==", re.MULTILINE
)
_ACTION_OF_NEXT: Final = re.compile(
    r"(?:^|:|\\/)\s*([A-Z]\w*)(?:\([^)]*\))?\s*(?=\\/|$)", re.MULTILINE
)
_COMMENT: Final = re.compile(r"\\\*[^\n]*")

Operators = dict[str, frozenset[str]]


def operators() -> Operators:
    """Give the operators that each specification defines."""
    return {
        path.stem: frozenset(_DEFINITION.findall(path.read_text("utf-8")))
        for path in sorted((ROOT / "spec").rglob("*.tla"))
    }


def links(tree: ast.Module) -> list[str]:
    """Give what stands behind `Spec:` in the docstrings of a file."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [ast.get_docstring(n) or "" for n in ast.walk(tree) if isinstance(n, documented)]
    return [
        link.strip()
        for docstring in docstrings
        for line in _SPEC_LINE.findall(docstring)
        for link in line.split(",")
    ]


@cache
def links_by_module() -> dict[str, list[str]]:
    """Give the links of each module of the sources, which are parsed once for all who ask."""
    return {module_name(path): links(parsed(path)) for path in SOURCES}


def is_alive(link: str, known: Operators) -> bool:
    match = _LINK.fullmatch(link)
    return match is not None and match[2] in known.get(match[1], frozenset())


def actions(spec: Path) -> frozenset[str]:
    """Give the actions that a specification's Next is made of."""
    text = _COMMENT.sub("", spec.read_text("utf-8"))
    match = re.search(r"^Next ==\n((?:  .*\n|\n)+)", text, re.MULTILINE)
    return frozenset(_ACTION_OF_NEXT.findall(match[1])) if match else frozenset()


@pytest.mark.xdist_group("links")
def test_links_to_the_specifications_are_alive() -> None:
    known = operators()
    found = {
        f"{module}: {link}": is_alive(link, known)
        for module, found_there in links_by_module().items()
        for link in found_there
    }
    assert [place for place, alive in found.items() if not alive] == []
    assert any(place.startswith("rocketha.epoch.") for place in found), "no link was found at all"


@pytest.mark.xdist_group("links")
@pytest.mark.parametrize(
    "spec",
    [
        "epoch_truncation/EpochTruncation",
        "escape/Escape",
        "legacy_replication/LegacyReplication",
        "lock_quorum/LockQuorum",
        "pre_online/PreOnline",
        "replica_group/ReplicaGroup",
        "snapshot_loading/SnapshotLoading",
    ],
)
def test_every_action_has_its_code(spec: str) -> None:
    linked = {link for found in links_by_module().values() for link in found}
    needed = actions(ROOT / "spec" / f"{spec}.tla")
    module = spec.rpartition("/")[2]
    assert len(needed) > 10
    assert sorted(a for a in needed if f"{module}!{a}" not in linked) == []


def test_a_dead_link_is_seen() -> None:
    tree = ast.parse('def f():\n    """Do.\n\n    Spec: Log!Append, Log!Gone\n    """\n')
    known: Operators = {"Log": frozenset({"Append"})}
    assert [is_alive(link, known) for link in links(tree)] == [True, False]
    assert not is_alive("Append", known)
    assert not is_alive("Other!Append", known)


def test_sources_name_something() -> None:
    for path in SOURCES:
        text = path.read_text("utf-8")
        named = len(_SOURCE_LINE.findall(text))
        assert named == len(re.findall(r"^\s*Source:", text, re.MULTILINE)), path

"""The same steps under several hash seeds, and an answer that depends on one is detected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import msgspec
import pytest

from tlatrace.errors import ToolError
from tlatrace.judgement.transition import Transition
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided
from tlatrace.selfcheck.hash_seeds import Seeded, answers, examine_hash_seeds, seeded
from tlatrace.selfcheck.subjects import packaged_subjects
from tlatrace.tools.python import run_python

JOB: Final = Seeded(
    name="Toy",
    module="Toy.tla",
    config="Toy.cfg",
    libraries=(),
    steps=((None, "Init", "[]", '{"x":0}'), ('{"x":0}', None, "[]", '{"x":1}')),
)


def test_equal_answers_agree() -> None:
    found = examine_hash_seeds([JOB], 4, run_job=lambda _path, _seed: '[["Allowed", "Refused"]]')
    assert found.facts == {"steps": 2, "seeds": 4, "differing": 0}
    assert found.verdict == Conforms(8)


@pytest.mark.parametrize("other", ["Allowed", "Failed (no idea)", "Refused; violated: Safe"])
def test_an_answer_that_depends_on_the_seed_is_found(other: str) -> None:
    def run(_path: Path, seed: int) -> str:
        return json.dumps([["Allowed", other if seed == 3 else "Refused"]])

    found = examine_hash_seeds([JOB], 4, run_job=run)
    assert isinstance(found.verdict, Diverges)
    (one,) = found.disagreements
    assert (one.tlc, one.model) == ("seed 0: Refused", f"seed 3: {other}")
    assert found.facts["differing"] == 1


def test_every_process_gets_the_same_steps() -> None:
    jobs: list[bytes] = []

    def run(path: Path, _seed: int) -> str:
        jobs.append(path.read_bytes())
        return '[["Allowed", "Refused"]]'

    examine_hash_seeds([JOB], 2, run_job=run)
    assert jobs[0] == jobs[1]
    assert msgspec.json.decode(jobs[0], type=list[Seeded]) == [JOB]


def test_no_steps_are_no_agreement() -> None:
    found = examine_hash_seeds([], 2, run_job=lambda _path, _seed: "[]")
    assert isinstance(found.verdict, Undecided)


def test_the_order_of_a_set_depends_on_the_seed(tmp_path: Path) -> None:
    (tmp_path / "ordered.py").write_text("print(list({'a', 'b', 'c', 'd', 'e', 'f', 'g'}))")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        orders = {run_python("ordered", [], hash_seed=seed) for seed in range(4)}
    assert len(orders) > 1


def test_a_process_that_fails_is_an_error() -> None:
    with pytest.raises(ToolError, match="ends with 1"):
        run_python("tlatrace.selfcheck.hash_seeds", ["nowhere.json"], hash_seed=1)


@pytest.mark.java
def test_processes_judge_as_this_one() -> None:
    (subject,) = [subject for subject in packaged_subjects() if subject.name == "Words"]
    steps = [Transition({"x": 0}, None, (), {"x": 1})]
    job = seeded(subject, steps)
    assert job.steps == (('{"x":0}', None, "[]", '{"x":1}'),)
    job = msgspec.structs.replace(job, steps=())
    assert answers(job) == []
    assert isinstance(examine_hash_seeds([job], 2).verdict, Undecided)

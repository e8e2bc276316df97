"""The prover: what counts as proved, as refuted, and as neither."""

from __future__ import annotations

import z3

from tlatrace.proofs import (
    Assumption,
    Checked,
    Claim,
    Limits,
    Proved,
    Refuted,
    Theorem,
    Unknown,
    prove,
)

X, Y = z3.Ints("x y")
ANY = Claim(name="any", description="Anything.", formula=z3.BoolVal(True))


def stated(*claims: z3.BoolRef, assuming: z3.BoolRef, witness: Claim = ANY) -> Theorem:
    return Theorem(
        name="Toy",
        statement="A toy.",
        assumptions=(Assumption(name="assumed", description="Assumed.", formula=assuming),),
        claims=tuple(
            Claim(name=f"claim{i}", description="Claimed.", formula=claim)
            for i, claim in enumerate(claims)
        ),
        witness=witness,
        not_shown="Anything else.",
    )


def test_a_claim_is_proved_when_its_negation_contradicts_the_assumptions() -> None:
    proof = prove(stated(X + Y > 2, assuming=z3.And(X > 1, Y > 1)))

    assert Proved() == proof.claims[0].answer
    assert proof.is_proved
    assert proof.example is not None
    assert proof.example["x"] > 1


def test_a_false_claim_is_refuted_with_values_that_meet_the_assumptions_and_not_the_claim() -> None:
    proof = prove(stated(X + Y > 4, assuming=z3.And(X > 1, Y > 1, X < 9)))

    answer = proof.claims[0].answer
    assert isinstance(answer, Refuted)
    assert proof.is_refuted
    expected = {"x": 2, "y": 2}
    assert expected == answer.counterexample


def test_each_claim_has_an_answer_of_its_own() -> None:
    proof = prove(stated(X > 0, X > 5, assuming=X > 1))

    assert [Proved, Refuted] == [type(checked.answer) for checked in proof.claims]
    assert not proof.is_proved
    assert proof.is_refuted


def test_nothing_is_proved_from_assumptions_that_contradict_each_other() -> None:
    proof = prove(stated(X > Y, assuming=z3.And(X > 1, X < 1)))

    answer = proof.claims[0].answer
    assert isinstance(answer, Unknown)
    assert "nothing meets the assumptions" in answer.reason
    assert proof.example is None
    assert not proof.is_proved


def test_nothing_is_proved_from_assumptions_without_the_demanded_example() -> None:
    witness = Claim(name="large", description="x is large.", formula=X > 100)

    proof = prove(stated(X < 50, assuming=X < 10, witness=witness))

    assert isinstance(proof.claims[0].answer, Unknown)


def test_a_question_beyond_the_limit_is_no_proof() -> None:
    a, b, c = z3.Ints("a b c")
    positive = z3.And(a > 0, b > 0, c > 0)

    proof = prove(stated(a**3 + b**3 != c**3, assuming=positive), limits=Limits(resources=200_000))

    assert isinstance(proof.claims[0].answer, Unknown)
    assert not proof.is_proved
    assert not proof.is_refuted


def test_the_limit_is_not_one_of_time() -> None:
    a, b, c = z3.Ints("a b c")
    positive = z3.And(a > 0, b > 0, c > 0)
    hard = stated(a**3 + b**3 != c**3, assuming=positive)

    found: list[Checked] = []
    for _ in range(3):
        found += prove(hard, limits=Limits(resources=300_000)).claims
        prove(stated(X > 0, assuming=X > 1))

    answers = [checked.answer for checked in found]
    counts = [checked.resources for checked in found]
    assert isinstance(answers[0], Unknown)
    assert answers == [answers[0]] * 3
    assert counts == [counts[0]] * 3
    assert counts[0] >= 300_000

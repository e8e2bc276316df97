"""Proofs by induction: what counts as kept, as broken, and as neither."""

from __future__ import annotations

from dataclasses import replace

import z3

from tlatrace.proofs import (
    Broken,
    Claim,
    Induction,
    Instance,
    Lemma,
    LemmaProof,
    Limits,
    Proved,
    Unknown,
    prove_induction,
)

X, Y = z3.Ints("x y")


def lemma(name: str, premise: z3.BoolRef, *claims: z3.BoolRef) -> Lemma:
    return Lemma(
        name=name,
        premises=(premise,),
        claims=tuple(
            Claim(name=f"claim{i}", description="Claimed.", formula=claim)
            for i, claim in enumerate(claims)
        ),
        readable=z3.And(X <= 9, Y <= 9),
        describe=lambda model: f"x = {model[X]}",
    )


def induction(*lemmas: Lemma) -> Induction:
    return Induction(name="Toy", statement="A toy.", lemmas=lemmas, not_shown="The rest.")


def answers(proof: LemmaProof) -> list[type]:
    return [type(answer) for _, answer in proof.claims]


def test_a_claim_that_cannot_fail_is_proved_when_the_step_is_possible() -> None:
    proof = prove_induction(induction(lemma("Step", X > 1, X > 0)))

    assert proof.is_proved
    assert proof.lemmas[0].example is not None


def test_a_step_that_is_never_possible_proves_nothing() -> None:
    proof = prove_induction(induction(lemma("Never", z3.And(X > 1, X < 0), X > 0)))

    assert answers(proof.lemmas[0]) == [Unknown]
    assert not proof.is_proved
    assert not proof.is_refuted


def test_nothing_is_proved_from_premises_without_the_example_that_is_asked_for() -> None:
    small = lemma("Small", X < 10, X < 50)

    assert prove_induction(induction(replace(small, witness=X > 5))).is_proved
    proof = prove_induction(induction(replace(small, witness=X > 100)))
    assert answers(proof.lemmas[0]) == [Unknown]


def test_a_broken_claim_is_told_with_small_numbers() -> None:
    proof = prove_induction(induction(lemma("Step", X > 7, X > 8, X > 0)))

    assert answers(proof.lemmas[0]) == [Broken, Proved]
    assert proof.lemmas[0].broken == (("claim0", Broken(text="x = 8")),)
    assert proof.is_refuted


def test_a_broken_claim_is_told_with_large_numbers_where_there_are_no_small_ones() -> None:
    proof = prove_induction(induction(lemma("Step", X > 70, X > 71)))

    assert proof.lemmas[0].broken == (("claim0", Broken(text="x = 71")),)


def test_lemmas_behind_a_broken_one_can_be_left_out() -> None:
    both = induction(lemma("One", X > 1, X > 2), lemma("Two", X > 1, X > 0))

    assert len(prove_induction(both).lemmas) == 2
    assert len(prove_induction(both, until_broken=True).lemmas) == 1


def test_a_question_beyond_the_limit_is_no_proof() -> None:
    a, b, c = z3.Ints("a b c")
    hard = lemma("Hard", z3.And(a > 0, b > 0, c > 0), a**3 + b**3 != c**3)

    proof = prove_induction(induction(hard), limits=Limits(resources=200_000))

    assert answers(proof.lemmas[0]) == [Unknown]
    assert not proof.is_proved


def test_what_z3_does_is_the_same_whatever_it_was_asked_before() -> None:
    a, b, c = z3.Ints("a b c")
    hard = lemma("Hard", z3.And(a > 0, b > 0, c > 0), a**3 + b**3 != c**3)
    limits = Limits(resources=200_000)

    first = prove_induction(induction(hard), limits=limits)
    prove_induction(induction(lemma("Step", X > 70, X > 71)))
    again = prove_induction(induction(hard), limits=limits)

    assert first.lemmas[0].claims == again.lemmas[0].claims
    assert first.lemmas[0].resources == again.lemmas[0].resources >= 200_000


def test_an_example_may_be_of_an_instance_of_the_premises() -> None:
    hard = lemma("Hard", X > 1, X > 0)
    possible = Instance(premises=(X == 7,), describe=lambda model: f"only {model[X]}")
    impossible = Instance(premises=(X == 7, X == 8), describe=lambda _: "never")

    proof = prove_induction(induction(replace(hard, instance=possible)))
    assert proof.is_proved
    assert proof.lemmas[0].example == "only 7"

    proof = prove_induction(induction(replace(hard, instance=impossible)))
    assert proof.lemmas[0].example is None
    assert answers(proof.lemmas[0]) == [Unknown]


def test_the_parts_of_a_claim_may_be_looked_at_one_by_one() -> None:
    right = z3.And(X > 0, z3.And(X > -1, X > -2))
    wrong = z3.And(X > 0, z3.And(X > -1, X < 5))
    apart = replace(lemma("Step", X > 1, right, wrong), apart=True)

    proof = prove_induction(induction(apart))

    assert answers(proof.lemmas[0]) == [Proved, Broken]
    assert proof.lemmas[0].broken[0][1].text in [f"x = {x}" for x in range(5, 10)]

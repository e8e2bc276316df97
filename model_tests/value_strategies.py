"""Hypothesis strategies for TLA+ values, states and traces: plural nouns, always valid."""

from __future__ import annotations

from hypothesis import strategies as st

from tlatrace.trace.model import INIT, Event, Header, Implementation, Part, Silent, Trace
from tlatrace.values import (
    Json,
    ModelValue,
    State,
    TlaSet,
    Value,
    canonical,
    fcn,
    record,
    tla_set,
)

_NAMES = ("a", "b", "log", "epochMap", "b1", "IF", "x_1", "WF_x", "Zähler", "two words", "#odd", "")
_VARIABLES = ("alive", "log", "epochs", "conn", "x")
_ACTIONS = ("Append", "TruncateSuffix", "Transfer", "Inner!Step")


def texts() -> st.SearchStrategy[str]:
    """Strings of every character except halves of surrogate pairs."""
    return st.text(max_size=12) | st.sampled_from(_NAMES)


def printable_texts() -> st.SearchStrategy[str]:
    """Strings that a TLA+ string can hold."""
    plain = st.characters(min_codepoint=32, max_codepoint=126, blacklist_characters="`")
    words = ("a", "b", "log", "IF", "two words", "(* c *)", "\\* c", "====", "|->")
    return st.text(plain | st.sampled_from('\\"\t\n\f\r'), max_size=12) | st.sampled_from(words)


def model_values() -> st.SearchStrategy[ModelValue]:
    """Model values with names that a configuration can declare."""
    return st.sampled_from(("b1", "b2", "None_", "n")).map(ModelValue)


def values() -> st.SearchStrategy[Value]:
    """Any TLA+ values, functions over mixed domains included."""
    numbers = st.integers() | st.integers(min_value=0, max_value=3) | st.just(2**53)
    return _nested(st.booleans() | numbers | texts() | model_values(), texts())


def tlc_values() -> st.SearchStrategy[Value]:
    """Values that TLC can read and print: 32-bit integers, printable strings."""
    numbers = st.integers(min_value=-(2**31), max_value=2**31 - 1) | st.integers(0, 3)
    return _nested(st.booleans() | numbers | printable_texts() | model_values(), printable_texts())


def uniform_tlc_values() -> st.SearchStrategy[Value]:
    """Values as `tlc_values`, in whose sets and domains TLC can compare all elements."""
    kinds: tuple[st.SearchStrategy[Value], ...] = (
        st.booleans(),
        st.integers(min_value=-(2**31), max_value=2**31 - 1) | st.integers(0, 3),
        printable_texts(),
        model_values(),
    )
    return st.recursive(st.sampled_from(kinds), _uniform_containers, max_leaves=6).flatmap(_same)


def _same(strategy: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return strategy


def _uniform_containers(
    inner: st.SearchStrategy[st.SearchStrategy[Value]],
) -> st.SearchStrategy[st.SearchStrategy[Value]]:
    """Make strategies each of which draws values of one kind."""
    names = st.dictionaries(printable_texts(), inner, min_size=1, max_size=4)
    return st.one_of(
        inner.map(lambda kind: st.lists(kind, max_size=4).map(tuple)),
        inner.map(lambda kind: st.lists(kind, max_size=4).map(tla_set)),
        st.lists(inner, max_size=4).map(lambda kinds: st.tuples(*kinds)),
        names.map(lambda kinds: st.fixed_dictionaries(kinds).map(record)),
        st.tuples(inner, inner).map(_uniform_functions),
    )


def _uniform_functions(
    kinds: tuple[st.SearchStrategy[Value], st.SearchStrategy[Value]],
) -> st.SearchStrategy[Value]:
    keys = st.lists(kinds[0], max_size=4, unique_by=canonical)
    return keys.flatmap(
        lambda found: st.tuples(*[kinds[1] for _ in found]).map(
            lambda images: fcn(list(zip(found, images, strict=True)))
        )
    )


def _nested(
    leaves: st.SearchStrategy[Value], names: st.SearchStrategy[str]
) -> st.SearchStrategy[Value]:
    return st.recursive(leaves, lambda inner: _containers(inner, names), max_leaves=12)


def _containers(
    inner: st.SearchStrategy[Value], names: st.SearchStrategy[str]
) -> st.SearchStrategy[Value]:
    lists = st.lists(inner, max_size=4)
    return st.one_of(
        lists.map(tuple),
        lists.map(tla_set),
        st.dictionaries(names, inner, max_size=4).map(record),
        st.tuples(lists.map(tla_set), inner).map(_constant_function),
    )


def _constant_function(domain_and_image: tuple[TlaSet, Value]) -> Value:
    domain, image = domain_and_image
    return fcn([(key, image) for key in domain])


def states() -> st.SearchStrategy[State]:
    """States over a few variables."""
    return st.dictionaries(st.sampled_from(_VARIABLES), values(), max_size=3)


def json_documents() -> st.SearchStrategy[Json]:
    """Any JSON data, encodings of values or not."""
    leaves: st.SearchStrategy[Json] = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts()
    )
    keys = texts() | st.sampled_from(("#set", "#map", "#tup", "#bigint", "#model"))
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=10,
    )


@st.composite
def events(draw: st.DrawFn, step: int) -> Event:
    """Events of one step, with a whole state, a part of it, or neither."""
    action = INIT if step == 0 else draw(st.none() | st.sampled_from(_ACTIONS))
    known = draw(st.none() | states())
    whole = draw(st.booleans())
    named = bool(step and action)
    params = draw(st.lists(values() | st.none(), max_size=2)) if named else []
    logged = tuple([param for param in params if param is not None])
    all_logged = len(logged) == len(params) and not (named and draw(st.booleans()))
    return Event(
        step=step,
        action=action,
        params=logged if all_logged else (),
        known_params=None if all_logged else tuple(params) if len(logged) < len(params) else (),
        node=draw(st.none() | texts()),
        state=known if whole else None,
        observed=None if whole else known,
        parts=() if whole else tuple(draw(st.lists(parts(), max_size=2))),
        clock=draw(st.none() | st.integers(min_value=-(2**63), max_value=2**63 - 1)),
    )


def parts() -> st.SearchStrategy[Part]:
    """Parts of variables."""
    arguments = st.lists(values(), min_size=1, max_size=2).map(tuple)
    return st.builds(Part, variable=st.sampled_from(_VARIABLES), at=arguments, value=values())


@st.composite
def headers(draw: st.DrawFn) -> Header:
    """Headers with and without their optional fields."""
    return Header(
        spec=draw(st.sampled_from(("EpochTruncation", "Toy_2"))),
        spec_sha256=draw(st.none() | st.just("0123456789abcdef" * 4)),
        constants=draw(states()),
        seed=draw(st.none() | st.integers(min_value=0, max_value=2**63 - 1)),
        implementation=draw(st.none() | st.just(Implementation(name="rocketha", version="0.1"))),
        meta=draw(st.dictionaries(st.sampled_from(("faults", "note")), st.none() | texts())),
        silent=draw(st.none() | silences()),
    )


def silences() -> st.SearchStrategy[Silent]:
    """Declarations of steps that are not logged."""
    names = st.lists(st.sampled_from(_ACTIONS), min_size=1, unique=True).map(tuple)
    most = st.none() | st.integers(min_value=0, max_value=9)
    return st.builds(Silent, actions=names, most=most)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Traces of up to four events."""
    count = draw(st.integers(min_value=0, max_value=4))
    return Trace(
        header=draw(headers()), events=tuple([draw(events(step)) for step in range(count)])
    )

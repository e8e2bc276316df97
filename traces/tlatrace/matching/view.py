"""What a run looks like at a higher level: its states through an operator, as a trace of that spec.

A refinement mapping is a state operator whose value is a record with a field for each variable of
the higher specification. A step that does not change the record is none there. So a run that
conforms to a specification can be held against what that one claims to implement.

Source: Abadi and Lamport, The Existence of Refinement Mappings, section 2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tlatrace.errors import ModelGapError
from tlatrace.oracle import Model
from tlatrace.trace import INIT, Event, Header, Trace
from tlatrace.values import Fcn, Json, State, canonical_state

__all__ = ["View", "view_trace"]

_META: Final = "view"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Which operator shows which specification."""

    operator: str
    """A state operator of the lower specification; the model was loaded with it."""
    spec: str
    """The module of the higher one."""
    spec_sha256: str | None
    variables: frozenset[str]
    """Of the higher module."""
    constants: frozenset[str]
    """Of the higher module; they have the values of the lower one's."""


def view_trace(model: Model, trace: Trace, view: View) -> Trace:
    """Return the trace that a run is of the higher specification.

    Its steps have no action names; `meta["view"]["steps"]` has the steps of the run that they are.

    Raises:
        ModelGapError: there are steps or parts of states that the trace does not show, or the
            operator's value is no state of the higher specification.
        EvaluationError: the operator has no value in a state.
    """
    assert trace.header is not None, "an empty trace has nothing to show"
    if trace.header.silent is not None:
        raise ModelGapError("the trace does not show all steps")
    events: list[Event] = []
    steps: list[Json] = []
    shown = ""
    for event in trace.events:
        if event.state is None:
            raise ModelGapError(f"step {event.step} does not show the whole state")
        state = _state(model, event.state, view)
        text = canonical_state(state)
        if text == shown:
            continue
        shown = text
        action = None if events else INIT
        events.append(Event(step=len(events), action=action, node=event.node, state=state))
        steps.append(event.step)
    return Trace(header=_header(trace.header, view, steps), events=tuple(events))


def _state(model: Model, state: State, view: View) -> State:
    value = model.show_value(model.evaluate(view.operator, model.adopt(state)))
    if isinstance(value, Fcn) and value.is_record and value.fields().keys() == view.variables:
        return {name: model.reading.exact(one) for name, one in value.fields().items()}
    wanted = ", ".join(sorted(view.variables))
    raise ModelGapError(f"{view.operator} is no state of {view.spec}, a record with {wanted}")


def _header(header: Header, view: View, steps: list[Json]) -> Header:
    return Header(
        spec=view.spec,
        spec_sha256=view.spec_sha256,
        constants={n: v for n, v in header.constants.items() if n in view.constants},
        seed=header.seed,
        implementation=header.implementation,
        meta={**header.meta, _META: {"of": header.spec, "operator": view.operator, "steps": steps}},
    )

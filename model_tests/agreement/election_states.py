"""A group of electors as a state of DLedger, value by value, as its compiled model has them.

Indexes and terms are one more than DLedger's: 0 is before the first one.

| specification             | implementation                                                       |
|---------------------------|----------------------------------------------------------------------|
| term, vote                | what the disk has                                                    |
| known                     | `known_max_term_in_group`, if it is above the term                   |
| raise, next               | `need_increase_term_immediately`; WAIT_TO_VOTE_NEXT last time |
| round                     | of a candidate with a round: what was answered, arrived or not       |
| asks, sent, transfers     | all that were sent; who has led                                      |
| log, synced               | as the run began; all of it is synchronized                          |
| all else                  | as in Init                                                           |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from model_tests.agreement.election_group import Group, Node
from rocketha.dledger.state import ParseResult
from rocketha.formats.dledger_codes import VoteResult
from rocketha.formats.dledger_requests import VoteResponse
from tlatrace.oracle.model import Model
from tlatrace.oracle.states import ModelState
from tlatrace.values import Value, record, tla_set

__all__ = ["NONE", "GroupStates"]

NONE: Final = "none"
_ROLES: Final = {"LEADER": "Leader", "FOLLOWER": "Follower", "CANDIDATE": "Candidate"}
_WITH_TERM: Final = (
    VoteResult.REJECT_EXPIRED_VOTE_TERM,
    VoteResult.REJECT_TERM_SMALL_THAN_LEDGER,
)


def _answer(answer: VoteResponse | None) -> Value:
    if answer is None:
        return record({"result": "NONE", "term": 0})
    term = answer.term + 1 if answer.vote_result in _WITH_TERM else 0
    return record({"result": answer.vote_result.value, "term": term})


def _known(node: Node) -> int:
    member = node.state.member
    known = member.known_max_term_in_group
    return known + 1 if known > member.curr_term else 0


def _disk_term(node: Node) -> int:
    assert node.disk is not None
    return node.disk.curr_term + 1


def _disk_vote(node: Node) -> str:
    assert node.disk is not None
    return node.disk.vote_leader or NONE


_OF_NODE: Final[Mapping[str, Callable[[Node], Value]]] = {
    "term": _disk_term,
    "vote": _disk_vote,
    "synced": lambda node: len(node.entries),
    "role": lambda node: _ROLES[node.state.member.role.value],
    "leader": lambda node: node.state.member.leader_id or NONE,
    "known": _known,
    "raise": lambda node: node.state.need_increase_term_immediately,
    "next": lambda node: node.state.last_parse_result is ParseResult.WAIT_TO_VOTE_NEXT,
    "taking": lambda node: node.state.member.term_to_take_leadership + 1,
    "transferee": lambda node: node.state.member.transferee or NONE,
    "inc": lambda node: node.restarts,
    **dict.fromkeys(
        ("base", "baseTerm", "snap", "same", "commit", "applied", "refill"), lambda _: 0
    ),
}


class GroupStates:
    """Reads the states of one run; a variable that is as before is not made again."""

    def __init__(self, model: Model, group: Group) -> None:
        self._model = model
        self._group = group
        self._read: dict[str, tuple[object, object]] = {}
        self._logs = {
            name: tuple([record({"term": term + 1, "by": name, "inc": 0}) for term in node.entries])
            for name, node in group.nodes.items()
        }

    def read(self) -> ModelState:
        """Read the whole state."""
        return tuple([self._variable(name) for name in self._model.variables])  # type: ignore[misc]

    def _variable(self, name: str) -> object:
        key = self._key(name)
        seen = self._read.get(name)
        if seen is None or seen[0] != key:
            value = self._model.adopt_variable(name, self._value(name, key))
            seen = self._read[name] = (key, value)
        return seen[1]

    def _key(self, name: str) -> object:
        """Return what a variable is made of."""
        nodes = self._group.nodes
        if name in _OF_NODE:
            return tuple(map(_OF_NODE[name], nodes.values()))
        match name:
            case "round":
                return tuple(
                    [
                        (
                            node.state.round is not None,
                            tuple(sorted(node.answers.items(), key=_first)),
                        )
                        for node in nodes.values()
                    ]
                )
            case "asks":
                return self._group.asks
            case "sent":
                return self._group.led
            case "transfers":
                return self._group.transfers
            case _:
                return None

    def _value(self, name: str, key: object) -> Value:
        group = self._group
        if name in _OF_NODE:
            assert isinstance(key, tuple)
            return record(dict(zip(group.nodes, key, strict=True)))
        match name:
            case "log":
                return record(dict(self._logs))
            case "agreed":
                return ()
            case "truncates" | "acks":
                return tla_set([])
            case "round":
                return record({one: self._round(node) for one, node in group.nodes.items()})
            case "asks":
                return tla_set(
                    [
                        record({"from": of, "term": t + 1, "endIndex": i + 1, "endTerm": e + 1})
                        for of, t, i, e in group.asks
                    ]
                )
            case "transfers":
                return tla_set(
                    [
                        record({"from": of, "to": to, "term": t + 1, "index": i + 1})
                        for of, to, t, i in group.transfers
                    ]
                )
            case "sent":
                return tla_set([self._leadership(*led) for led in group.led])
            case _:
                raise AssertionError(f"what is {name}?")

    def _round(self, node: Node) -> Value:
        return record({one: _answer(node.answers.get(one)) for one in self._group.nodes})

    def _leadership(self, by: str, restarts: int, term: int) -> Value:
        return record(
            {
                "by": by,
                "inc": restarts,
                "term": term + 1,
                "log": self._logs[by],
                "commit": 0,
                "snap": 0,
            }
        )


def _first(item: tuple[str, VoteResponse]) -> str:
    return item[0]

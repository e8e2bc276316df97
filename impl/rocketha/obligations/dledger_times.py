"""What members of a DLedger group owe in time, by their own clocks, which may be a tenth wrong.

| obligation           | since                               | until                              |
|----------------------|-------------------------------------|------------------------------------|
| heartbeats sent      | it leads, or has sent some          | the next ones, an interval later;  |
|                      |                                     | at once, if a majority follows or  |
|                      |                                     | will, and too few do already       |
| leaders given up     | it has heard its leader             | it hears it again, or is candidate |
| lost quorums known   | a majority has answered heartbeats  | it does again, or it leads no more |
| votes asked for      | it is candidate, or a round is over | a larger term, or a round          |
| rounds ended         | it has asked for votes              | the round is over                  |
| transfers ended      | it hands over                       | it takes entries again, or is none |
| entries synchronized | it has written one as leader        | the disk has it                    |
| queues worked off    | something committed has to wait     | it is applied                      |
| pushes sent          | it has pushed something to a member | the next push                      |
| pushes repeated      | it has pushed entries, and hears    | it pushes again                    |
|                      | nothing of the member               |                                    |
| clients answered     | a client asks                       | it is answered, once               |
| operators answered   | who administers the group asks      | it is answered, once: with what    |
|                      |                                     | the follower says, as soon as it   |
|                      |                                     | is heard                           |
| requests to lead     | its leader asks it to lead          | it says why not, or is a candidate |
| answered             | it is one because of that           | at once, when it leads or will not |
| patience             | it has done something               | it does it again, not sooner       |

A process that stood still has that time more, and one whose clock is slower than that the time that
its clock takes: its records show it.

Source: DLedgerLeaderElector (`maintainAs...`), DLedgerEntryPusher, DLedgerConfig
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from rocketha.dledger.config import ROUND_MS, TRANSFER_MS
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode
from rocketha.obligations.dledger_clients import is_taken
from rocketha.obligations.dledger_deadlines import Deadlines
from rocketha.obligations.dledger_turns import INQUIRIES, Turn, forged, misdirected, pauses_of
from rocketha.obligations.obligation import Due
from rocketha.recording.record import RESPONSE

__all__ = [
    *("APPLIED", "ASKED", "BEATS", "CLIENTS", "GIVEN_UP", "PUSHES", "QUORUMS", "ROUNDS", "SYNCED"),
    *("OPERATORS", "REPEATED", "TIMES", "TO_LEAD", "TRANSFERS", "Times", "times_of"),
]

BEATS: Final = "heartbeats sent"
GIVEN_UP: Final = "leaders given up"
QUORUMS: Final = "lost quorums known"
ASKED: Final = "votes asked for"
ROUNDS: Final = "rounds ended"
TRANSFERS: Final = "transfers ended"
SYNCED: Final = "entries synchronized"
APPLIED: Final = "queues worked off"
PUSHES: Final = "pushes sent"
REPEATED: Final = "pushes repeated"
CLIENTS: Final = "clients answered"
OPERATORS: Final = "operators answered"
TO_LEAD: Final = "requests to lead answered"
PATIENCE: Final = "patience"
TIMES: Final = (
    *(BEATS, GIVEN_UP, QUORUMS, ASKED, ROUNDS, TRANSFERS, SYNCED, APPLIED, PUSHES, CLIENTS),
    *(OPERATORS, PATIENCE, REPEATED, TO_LEAD),
)

_AT_ONCE_MS: Final = 2
_NO_TERM: Final = -1
_IDLE_TIMERS: Final = 10
"""Two or three may come for nothing, where a clock that runs fast is rounded."""
_CODE: Final = DLedgerRequestCode
_SUCCESS: Final = DLedgerResponseCode.SUCCESS


@dataclass(slots=True)
class Times(Deadlines):
    """Follows one incarnation of a member, turn by turn."""

    beat_shows_ms: int | None = None
    beat: dict[str, bool] = field(default_factory=dict)
    """Of the last heartbeats: name -> whether the member follows."""
    will_follow: set[str] = field(default_factory=set)
    """Those of them that were answered by who will follow soon."""
    is_judged: bool = False
    """What they came to is known."""
    may_beat: bool = True
    heard_shows_ms: int | None = None
    """When its leader was heard."""
    told_shows_ms: dict[str, int] = field(default_factory=dict)
    """Follower -> when it was pushed something last."""
    tickets: dict[int, str] = field(default_factory=dict)
    operators: list[int] = field(default_factory=list)
    """Numbers of requests of who administers the group, which are not answered."""
    asked: int = 0
    handed_over: tuple[str, int] | None = None
    """The transfer that an operator waits for: the name of its request, and when it was sent."""
    asks_to_lead: str | None = None
    """The last request to lead."""
    takes_for: str | None = None
    """The one because of which it is a candidate, and that is not answered yet."""
    idle: int = 0
    """So many timers one right after the other had nothing to do."""
    idle_shows_ms: int = 0
    """When the last of them was."""
    term_shows_ms: tuple[int, int] | None = None
    """When it went to a larger term that it had heard of, and how long it waits then."""
    restart_shows_ms: int | None = None
    """When it was started that had been up before; None: it has gone on since."""

    # ---- a turn ----

    def take(self, turn: Turn) -> None:
        """Take a turn that was not cut."""
        self.sees(turn.at_ms, turn.shows_ms)
        self._candidate(turn)
        self._follower(turn)
        self._leader(turn)
        self._queue(turn)
        self._pushes(turn)
        self._clients(turn)
        self._operators(turn)
        self._asked_to_lead(turn)
        self._takes_leadership(turn)
        self._timers(turn)

    def _candidate(self, turn: Turn) -> None:
        before, after, settings = turn.before, turn.after, self.settings
        goes = after["curr_term"] != before["curr_term"]
        if after["own_answer"] is None or goes:
            self.end("round", turn.at_ms)
        if after["own_answer"] is not None and before["own_answer"] is None:
            self.end("asks", turn.at_ms)
            wait_ms = ROUND_MS + settings["max_vote_interval_ms"]
            self.begin("round", ROUNDS, turn, wait_ms, "end its round of votes")
            if self.term_shows_ms is not None:
                since_ms, least_ms = self.term_shows_ms
                done = turn.shows_ms - since_ms >= least_ms
                what = "wait before it asks for votes"
                self.at_once(PATIENCE, turn, what, done=done, too_soon="AskEarly")
            self.term_shows_ms = None
        if after["role"] != "CANDIDATE" or goes:
            self.end("asks", turn.at_ms)
        if after["role"] == "CANDIDATE" and after["own_answer"] is None:
            wait_ms = self._lease_ms + settings["max_vote_interval_ms"]
            self.begin("asks", ASKED, turn, wait_ms, "ask for votes, or go to a larger term")
        self._wait_after_restart(turn)
        if goes and before["raises"]:
            preferred = self.node in settings["preferred_leader_ids"]
            taking = preferred and after["taking"] == after["curr_term"]
            least = "min_take_leadership_vote_interval_ms" if taking else "min_vote_interval_ms"
            self.term_shows_ms = turn.shows_ms, settings[least]

    def _wait_after_restart(self, turn: Turn) -> None:
        before, goes = turn.before, turn.after["curr_term"] != turn.before["curr_term"]
        if turn.event == "Started" and self.settings.get("waits_after_restart"):
            self.restart_shows_ms = None if before["kept"] is None else turn.shows_ms
        if self.restart_shows_ms is None:
            return
        if goes and turn.event == "TimerFired" and not before["raises"]:
            done = turn.shows_ms - self.restart_shows_ms >= self._lease_ms
            what = "wait for a leader after it was started again"
            self.at_once(PATIENCE, turn, what, done=done, too_soon="AskEarly")
        if goes or turn.after["role"] != "CANDIDATE":
            self.restart_shows_ms = None

    def _follower(self, turn: Turn) -> None:
        before, after, heard = turn.before, turn.after, turn.heard
        follows = after["role"] == "FOLLOWER"
        is_beat = heard is not None and heard.code == _CODE.HEART_BEAT
        if is_beat and heard is not None and turn.event == "RequestArrived" and follows:
            answer = turn.answers.get(heard.id, {})
            if answer.get("code") == _SUCCESS:
                self.end("leader", turn.at_ms)
                self.heard_shows_ms = turn.shows_ms
                wait_ms = self._silence_ms + 1
                self.begin("leader", GIVEN_UP, turn, wait_ms, "give up a leader that is silent")
        if not follows:
            self.end("leader", turn.at_ms)
            timed = turn.event == "TimerFired" and before["role"] == "FOLLOWER"
            if timed and after["taking"] == before["taking"] and self.heard_shows_ms is not None:
                silent_ms = turn.shows_ms - self.heard_shows_ms
                done = silent_ms > self._silence_ms
                what = "wait for its leader"
                self.at_once(PATIENCE, turn, what, done=done, too_soon="GiveUpEarly")

    @property
    def _others(self) -> set[str]:
        return set(self.settings["peers"]) - {self.node}

    @property
    def _interval_ms(self) -> int:
        interval_ms: int = self.settings["heart_beat_time_interval_ms"]
        return interval_ms

    @property
    def _lease_ms(self) -> int:
        return int(self.settings["max_heart_beat_leak"]) * self._interval_ms

    @property
    def _silence_ms(self) -> int:
        return max(2 * self._interval_ms, self._lease_ms)

    def _leader(self, turn: Turn) -> None:
        before, after, settings = turn.before, turn.after, self.settings
        interval_ms, others = self._interval_ms, self._others
        if after["role"] != "LEADER":
            for key in ("beat", "quorum", "transfer", "sync"):
                self.end(key, turn.at_ms)
            self.beat, self.may_beat, self.beat_shows_ms = {}, True, None
            return
        if before["role"] != "LEADER" and others:
            self.begin("beat", BEATS, turn, 0, "send heartbeats")
            self.begin("quorum", QUORUMS, turn, self._loss_ms, "give up without a majority")
        sent = {name: to for code, to, _, name in turn.sent if code == _CODE.HEART_BEAT}
        if sent:
            self.end("beat", turn.at_ms)
            if self.beat_shows_ms is not None and not self.may_beat:
                done = turn.shows_ms - self.beat_shows_ms > interval_ms
                what = "wait an interval between heartbeats"
                self.at_once(PATIENCE, turn, what, done=done, too_soon="RepeatEarly")
            done = set(sent.values()) == others
            self.at_once(BEATS, turn, "send heartbeats to all others", done=done)
            self.beat, self.will_follow, self.is_judged = dict.fromkeys(sent, False), set(), False
            self.beat_shows_ms, self.may_beat = turn.shows_ms, False
            self.begin("beat", BEATS, turn, interval_ms, "send heartbeats")
        if turn.event == "FrameReceived":
            self.may_beat = True  # a broker may ask for what a read must confirm
        if turn.event == "ReadAsked" and not turn.answered and others:
            self.may_beat = True
            if self._follow:  # else the last heartbeats may still be waited for
                self.forget("beat")
                self.begin("beat", BEATS, turn, 0, "send heartbeats for a read")
        self._hear_beat(turn)
        if after["transferee"] is None:
            self.end("transfer", turn.at_ms)
        else:
            self.begin("transfer", TRANSFERS, turn, TRANSFER_MS, "end a transfer")
        if after["synced"] >= after.end:
            self.end("sync", turn.at_ms)
        else:
            wait_ms = settings["flush_file_interval_ms"]
            self.begin("sync", SYNCED, turn, wait_ms, "synchronize its log")

    def _hear_beat(self, turn: Turn) -> None:
        heard = turn.heard
        if heard is None or turn.event != "ResponseArrived":
            return
        name, code = heard.id.removesuffix(RESPONSE), heard.body.get("code")
        if name not in self.beat:
            return
        if code == DLedgerResponseCode.TERM_NOT_READY:
            self.may_beat = True
            self.will_follow.add(name)
        self.beat[name] = code == _SUCCESS
        if not self.is_judged and self._is_quorum(sum(self.beat.values()) + len(self.will_follow)):
            self.is_judged = True
            if not self._follow:
                self.forget("beat")
                self.begin("beat", BEATS, turn, 0, "send heartbeats again")
        if self._follow:
            self.end("quorum", turn.at_ms)
            self.begin("quorum", QUORUMS, turn, self._loss_ms, "give up without a majority")

    @property
    def _follow(self) -> bool:
        """Tell whether a majority has answered the last heartbeats."""
        return self._is_quorum(sum(self.beat.values()))

    def _is_quorum(self, others: int) -> bool:
        return 2 * (1 + others) > len(self.settings["peers"])

    @property
    def _loss_ms(self) -> int:
        return self._lease_ms + 3 * self._interval_ms

    # ---- the state machine ----

    def _queue(self, turn: Turn) -> None:
        after, wait_ms = turn.after, self.settings["apply_wait_ms"]
        if not wait_ms:
            return
        for key in [*self.open]:
            if isinstance(key, tuple) and key[0] == "apply" and key[1] <= after["applied"]:
                self.end(key, turn.at_ms)
        due = min(after["committed"], after.end)
        if after["applied"] < due:
            self.begin(("apply", due), APPLIED, turn, wait_ms, f"apply entry {due}")

    # ---- pushes ----

    def _pushes(self, turn: Turn) -> None:
        settings, after = self.settings, turn.after
        others = [peer for peer in settings["peers"] if peer != self.node]
        changed = (turn.before["role"], turn.before["curr_term"]) != (
            after["role"],
            after["curr_term"],
        )
        if after["role"] != "LEADER" or changed:
            for peer in others:
                self.end(("push", peer), turn.at_ms)
                self.forget(("again", peer))
            self.told_shows_ms = {}
        if after["role"] != "LEADER":
            return
        if turn.event == "ResponseArrived":
            heard = others if turn.heard is None else [turn.heard.peer]
            self.forget(*[("again", peer) for peer in heard])
        for code, peer, body, _ in turn.sent:
            if code not in (_CODE.PUSH, _CODE.INSTALL_SNAPSHOT):
                continue
            self.end(("push", peer), turn.at_ms)
            self.end(("again", peer), turn.at_ms)
            kind, told_ms = body.get("type"), self.told_shows_ms.get(peer)
            if kind == "COMMIT" and told_ms is not None:
                done = turn.shows_ms - told_ms > settings["push_commit_interval_ms"]
                what = f"wait before it tells {peer} again"
                self.at_once(PATIENCE, turn, what, done=done, too_soon="RepeatEarly")
            if kind in ("COMMIT", "APPEND"):
                self.told_shows_ms[peer] = turn.shows_ms
            wait_ms = max(
                settings["push_commit_interval_ms"],
                settings["rpc_timeout_ms"] + settings["push_retry_ms"],
                settings["max_push_time_out_ms"],
            )
            self.begin(("push", peer), PUSHES, turn, wait_ms, f"push to {peer}")
            if kind == "APPEND":
                wait_ms, what = settings["max_push_time_out_ms"] + 1, f"push to {peer} again"
                self.begin(("again", peer), REPEATED, turn, wait_ms, what)

    # ---- clients ----

    def _clients(self, turn: Turn) -> None:
        wait_ms = self.settings["max_wait_ack_time_ms"] + 1
        for one in turn.records[0].heard:
            if isinstance(one, dict) and one.get("is") in ("AppendAsked", "ReadAsked"):
                waiting = sum(kind == "AppendAsked" for kind in self.tickets.values())
                most = self.settings.get("max_pending_requests_num", waiting + 1)
                is_full = waiting >= most
                self.tickets[one["ticket"]] = one["is"]
                key = "ticket", one["ticket"]
                self.begin(key, CLIENTS, turn, wait_ms, f"answer client {one['ticket']}")
                what = "refuse a client, or take what it wants"
                done = is_taken(turn, one, self.settings, is_full=is_full)
                self.at_once(CLIENTS, turn, what, done=done)
        for one in turn.answered:
            if "ticket" not in one:
                continue
            is_first = self.tickets.pop(one["ticket"], None) is not None
            self.at_once(CLIENTS, turn, "answer each client once", done=is_first)
            self.end(("ticket", one["ticket"]), turn.at_ms)
        left = _leads(turn.before) and _leads(turn.before) != _leads(turn.after)
        if left:
            what = "tell all clients that it leads no more"
            self.at_once(CLIENTS, turn, what, done=not self.tickets)

    def _operators(self, turn: Turn) -> None:
        """Who wants another leader hears how that went, or that it took too long."""
        other = misdirected(turn, self.settings) or forged(turn, self.settings)
        if other is not None or turn.event in INQUIRIES:
            return
        answers = [one["body"] for one in turn.answered if one["is"] == "OutsiderTold"]
        asked = [one["is"] for one in turn.records[0].heard if isinstance(one, dict)]
        is_asked = "LeadershipTransferRequest" in asked
        if self.handed_over is not None and not is_asked:
            self._hear_of_transfer(turn, *self.handed_over, answers)
        if is_asked:
            self.asked += 1
            self.operators.append(self.asked)
            key = "operator", self.asked
            self.begin(key, OPERATORS, turn, TRANSFER_MS, "answer who wants another leader")
            for code, _, _, name in turn.sent:
                if code == _CODE.LEADERSHIP_TRANSFER:
                    self.handed_over = name, turn.shows_ms
        for _ in answers:
            self.at_once(OPERATORS, turn, "answer once", done=bool(self.operators))
            if self.operators:  # at most one waits for a follower: any other is answered at once
                self.end(("operator", self.operators.pop()), turn.at_ms)

    def _hear_of_transfer(
        self, turn: Turn, name: str, since_ms: int, answers: Sequence[str]
    ) -> None:
        """Judge what is passed on, or said because nothing was heard."""
        heard = turn.heard if turn.event == "ResponseArrived" else None
        if heard is not None and heard.id.removesuffix(RESPONSE) == name:
            what = "pass on what a follower says"
            done = [msgspec.json.decode(body) for body in answers] == [heard.body]
        elif answers:
            what = "wait for what a follower says"
            is_lost = turn.event == "ResponseArrived" and heard is None
            done = is_lost or turn.shows_ms - since_ms >= TRANSFER_MS
        else:
            return
        self.handed_over = None
        self.at_once(OPERATORS, turn, f"{what} of its leadership", done=done)

    def _asked_to_lead(self, turn: Turn) -> None:
        """A leader that hands over hears in time why not; a candidate answers when it is one."""
        heard = turn.heard
        is_asked = heard is not None and heard.code == _CODE.LEADERSHIP_TRANSFER
        if is_asked and heard is not None and turn.event == "RequestArrived":
            self.end("lead", turn.at_ms)  # who asked before is refused
            self.asks_to_lead = heard.id
            wait_ms = self.settings["leadership_transfer_wait_timeout_ms"] + 1
            self.begin("lead", TO_LEAD, turn, wait_ms, "answer who asks it to lead")
        if self.asks_to_lead in turn.answers or turn.after["role"] != "FOLLOWER":
            self.end("lead", turn.at_ms)

    def _takes_leadership(self, turn: Turn) -> None:
        """Who asked a candidate to lead hears how that went as soon as it is decided."""
        before, after = turn.before.parts.get("taking", _NO_TERM), turn.after["taking"]
        heard = turn.heard
        is_asked = heard is not None and heard.code == _CODE.LEADERSHIP_TRANSFER
        if turn.event == "Started" or (is_asked and before != _NO_TERM):
            self.takes_for = None  # it has forgotten it, or there are two
            return
        if before == after:
            return
        if self.takes_for is not None:
            what = "say how it went to who asked it to lead"
            self.at_once(TO_LEAD, turn, what, done=self.takes_for in turn.answers)
        self.takes_for = None if after == _NO_TERM else self.asks_to_lead

    # ---- timers ----

    def _timers(self, turn: Turn) -> None:
        """A timer has something to do: it is not set to a time that has passed, again and again."""
        before, after = turn.before, turn.after
        done = turn.sent or turn.answered or before.parts != after.parts or before.log != after.log
        if turn.event != "TimerFired" or done:
            self.idle = 0
            return
        follows = turn.shows_ms - self.idle_shows_ms <= _AT_ONCE_MS
        self.idle = self.idle + 1 if follows else 1
        self.idle_shows_ms = turn.shows_ms
        what = "sleep until there is something to do"
        self.at_once(PATIENCE, turn, what, done=self.idle < _IDLE_TIMERS)


def _leads(has: Any) -> int | None:
    term: int | None = has["curr_term"] if has["role"] == "LEADER" else None
    return term


def times_of(
    node: str, turns: Sequence[Turn], settings: Mapping[str, Any]
) -> Iterator[tuple[str, Due]]:
    """Yield what was due in time, whenever it was done."""
    pauses = [pause for turn in turns for pause in pauses_of(turn.records)]
    times = Times(node, settings, pauses)
    for turn in turns:
        if not turn.is_cut:
            times.take(turn)
        if turn.is_last:
            ends = turn is turns[-1] and not turn.is_cut
            for key in [*times.open] if ends and not turn.is_stopped else ():
                times.end(key, None)
            yield from times.found
            times = Times(node, settings, pauses)
    yield from times.found

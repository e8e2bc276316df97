"""What members of a DLedger group answer each other: by what they had when they were asked.

| obligation          | what is answered                                                           |
|---------------------|----------------------------------------------------------------------------|
| votes decided       | logs before terms: who lacks an entry is refused, then who is in a smaller |
|                     | term, the second of a term, any by who has thrown its log away and has not |
|                     | got it again, who is ahead, who is behind its own log, and who would come  |
|                     | before one that shall lead; the same of its own request                    |
| beats answered      | the leader of its term is followed, a larger term gone to                  |
| pushes answered     | who is not its leader is refused; what it has, what it lacks, and where    |
|                     | the term begins that it has instead; what is on the disk, when it is there |
| commits learned     | what the leader has committed and the member has of its log                |
| misdirected refused | what is for another member, or another group, changes nothing              |
| forged refused      | nor does what no member sends, whoever it says that it is; the connection  |
|                     | is closed that it came from, if it cannot be read                          |

Of what a follower answers to pushes of the older generation it is asked for no more than that it
refuses them, what its log has, and which entries were pushed.

Source: DLedgerLeaderElector (`handleVote`, `handleHeartBeat`), DLedgerEntryPusher.EntryHandler,
DLedgerServer
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode, PushType
from rocketha.obligations.dledger_turns import (
    Has,
    Heard,
    Turn,
    forged,
    is_unreadable,
    misdirected,
)
from rocketha.obligations.outsiders import CLOSED

__all__ = ["ANSWERS", "answers_of"]

VOTES: Final = "votes decided"
BEATS: Final = "beats answered"
PUSHES: Final = "pushes answered"
COMMITS: Final = "commits learned"
MISDIRECTED: Final = "misdirected refused"
FORGED: Final = "forged refused"
ANSWERS: Final = (VOTES, BEATS, PUSHES, COMMITS, MISDIRECTED, FORGED)

_CODE: Final = DLedgerResponseCode
_NONE: Final = -1
_OF_PUSHES: Final = frozenset({"beginIndex", "count", "endIndex", "index", "xIndex", "xTerm"})
"""What answers to INSTALL_SNAPSHOT have not."""
_OF_ELECTIONS: Final = ("VoteRequest", "HeartBeatRequest", "LeadershipTransferRequest")
"""The answers to these say where they were sent, too."""


def answers_of(turn: Turn, settings: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield what is due in a turn, and whether it was done."""
    if turn.event == "TimerFired" and turn.before["own_answer"] is None:
        own = turn.after["own_answer"]
        if own is not None and turn.after["role"] == "CANDIDATE":
            has = turn.before
            asked = _own_request(turn.node, has)
            yield VOTES, own[0] == _decided(turn.node, has, asked, settings)
            peers = {to for code, to, body, _ in turn.sent if _asks(code, body, asked)}
            yield VOTES, peers == set(settings["peers"]) - {turn.node}
    heard, wrong = turn.heard, misdirected(turn, settings)
    if wrong is not None:
        yield MISDIRECTED, _is_refused(turn, wrong)
    lie = forged(turn, settings)
    if lie is not None:
        owed = _owed(turn, lie, settings)
        yield FORGED, _changes_nothing(turn) and _says(_of_outsider(turn), owed)
    if is_unreadable(turn):
        yield FORGED, _changes_nothing(turn) and turn.answered == [CLOSED]
    if heard is None or turn.event != "RequestArrived":
        return
    answer = turn.answers.get(heard.id)
    if answer is None:
        return  # that is missed elsewhere
    match heard.code:
        case DLedgerRequestCode.VOTE:
            yield VOTES, _voted(turn, heard, answer, settings)
        case DLedgerRequestCode.HEART_BEAT:
            yield BEATS, _beaten(turn, heard, answer)
        case DLedgerRequestCode.PUSH:
            refusal = _refusal(turn.before, heard.body)
            if settings["legacy_push"] and not turn.is_cut:
                yield PUSHES, _says_its_log(turn, heard, answer)
            if refusal is not None:
                yield PUSHES, _refused(turn, heard, answer, refusal)
                return
            if not settings["legacy_push"]:
                yield PUSHES, _pushed(turn, heard.body, answer)
            tells = heard.body["type"] != "COMPARE" and heard.body["commitIndex"] >= 0
            if tells and not turn.is_cut:
                bound = min(heard.body["commitIndex"], turn.after["same"])
                learns = answer["code"] == _CODE.SUCCESS
                yield COMMITS, not learns or turn.after["committed"] >= bound
        case DLedgerRequestCode.INSTALL_SNAPSHOT:
            yield PUSHES, _installed(turn, heard.body, answer)
        case _:
            pass


def _is_refused(turn: Turn, asked: Mapping[str, Any]) -> bool:
    """Tell whether who is wrong here hears that, and nothing else has happened."""
    is_other = asked["remote_id"] != turn.node
    code = _CODE.UNKNOWN_MEMBER if is_other else _CODE.UNKNOWN_GROUP
    said = {"code": code, "group": asked["group"], "term": asked["term"]}
    if asked["is"] in _OF_ELECTIONS:
        said |= {"localId": asked["local_id"], "remoteId": asked["remote_id"]}
        said |= {"leaderId": turn.before["leader"]}
    return _changes_nothing(turn) and _says(_of_outsider(turn), said)


def _says(answer: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    return all(answer.get(name) == value for name, value in said.items())


def _changes_nothing(turn: Turn) -> bool:
    return turn.before == turn.after and not turn.sent


def _of_outsider(turn: Turn) -> Mapping[str, Any]:
    """Return what who is outside of the group was answered; nothing, if not once."""
    told = [one["body"] for one in turn.answered if one["is"] == "OutsiderTold"]
    answer: Mapping[str, Any] = msgspec.json.decode(told[0]) if len(told) == 1 else {}
    return answer


def _owed(turn: Turn, asked: Mapping[str, Any], settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is answered to a request that no member sends."""
    has, leader = turn.before, asked["leader_id"]
    match asked["is"]:
        case "VoteRequest":
            itself = leader == turn.node
            result = "REJECT_UNEXPECTED_LEADER" if itself else "REJECT_UNKNOWN_LEADER"
            return {"voteResult": result, "term": has["curr_term"], "leaderId": leader}
        case "HeartBeatRequest" if leader == turn.node:
            return {"code": _CODE.UNEXPECTED_MEMBER, "term": has["curr_term"]}
        case "HeartBeatRequest" if leader in settings["peers"]:
            return {"code": _CODE.INCONSISTENT_LEADER}
        case "HeartBeatRequest":
            return {"code": _CODE.UNKNOWN_MEMBER, "term": has["curr_term"]}
        case _:
            entries = asked["entries"]
            said = {"term": asked["term"], "count": len(entries)}
            refusal = _refusal(has, {"term": asked["term"], "leaderId": leader})
            if refusal is not None:
                return {"code": refusal, **said}
            is_next = bool(entries) and entries[0]["index"] > has["same"]
            is_cut = asked["kind"] == PushType.TRUNCATE.value
            is_wrong = is_next or not (entries or is_cut)
            code = _CODE.UNEXPECTED_ARGUMENT if is_wrong else _CODE.INCONSISTENT_STATE
            return {"code": code, **said}


# ---- votes ----


def _own_request(node: str, has: Has) -> Mapping[str, Any]:
    return {
        "leaderId": node,
        "term": has["curr_term"],
        "ledgerEndIndex": has.end,
        "ledgerEndTerm": has.end_term,
    }


def _asks(code: int, body: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    return code == DLedgerRequestCode.VOTE and all(body[name] == asked[name] for name in asked)


def _decided(node: str, has: Has, asked: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Return the result, in the order in which it is decided."""
    candidate, term, own_term = asked["leaderId"], has["curr_term"], has.end_term
    same_log = asked["ledgerEndTerm"] == own_term
    is_shorter = asked["ledgerEndIndex"] < has.end
    is_taking = node in settings["preferred_leader_ids"] and has["taking"] == term
    behind = asked["ledgerEndIndex"] <= has.end
    decided = (
        (asked["ledgerEndTerm"] < own_term, "REJECT_EXPIRED_LEDGER_TERM"),
        (same_log and is_shorter, "REJECT_SMALL_LEDGER_END_INDEX"),
        (asked["term"] < term, "REJECT_EXPIRED_VOTE_TERM"),
        (
            asked["term"] == term
            and (has["vote"] not in (None, candidate) or own_term < has.refill_term),
            "REJECT_ALREADY_VOTED" if has["leader"] is None else "REJECT_ALREADY_HAS_LEADER",
        ),
        (asked["term"] != term, "REJECT_TERM_NOT_READY"),
        (asked["term"] < own_term, "REJECT_TERM_SMALL_THAN_LEDGER"),
        (candidate != node and is_taking and same_log and behind, "REJECT_TAKING_LEADERSHIP"),
    )
    return next((result for is_so, result in decided if is_so), "ACCEPT")


def _voted(
    turn: Turn, heard: Heard, answer: Mapping[str, Any], settings: Mapping[str, Any]
) -> bool:
    before, after, asked = turn.before, turn.after, heard.body
    result = _decided(turn.node, before, asked, settings)
    small = result == "REJECT_TERM_SMALL_THAN_LEDGER"
    said = {
        "voteResult": result,
        "term": before.end_term if small else before["curr_term"],
        **{name: asked[name] for name in ("group", "localId", "remoteId", "leaderId", "code")},
    }
    if not _says(answer, said):
        return False
    if result == "REJECT_TERM_NOT_READY":
        return bool(after["raises"]) and after["known"] >= asked["term"]
    if result == "ACCEPT" and not turn.is_cut:
        return after.has_kept(before["curr_term"], asked["leaderId"], before.refill_term)
    return bool(after["role"] == before["role"] and after["vote"] == before["vote"]) or turn.is_cut


# ---- heartbeats ----


def _beaten(turn: Turn, heard: Heard, answer: Mapping[str, Any]) -> bool:
    before, after, beat = turn.before, turn.after, heard.body
    term, leader = before["curr_term"], before["leader"]
    if beat["term"] < term:
        return bool(answer["code"] == _CODE.EXPIRED_TERM and answer["term"] == term)
    if beat["term"] > term:
        goes = after["role"] == "CANDIDATE" and after["raises"] and after["known"] >= beat["term"]
        return bool(answer["code"] == _CODE.TERM_NOT_READY and goes)
    if leader in (None, beat["leaderId"]):
        return bool(answer["code"] == _CODE.SUCCESS and after.follows(beat["leaderId"]))
    return bool(answer["code"] == _CODE.INCONSISTENT_LEADER and after["leader"] == leader)


# ---- pushes ----


def _refusal(has: Has, message: Mapping[str, Any]) -> int | None:
    if message["term"] < has["curr_term"]:
        return _CODE.EXPIRED_TERM
    if message["term"] > has["curr_term"]:
        return _CODE.TERM_NOT_READY
    if has["role"] != "FOLLOWER":
        return _CODE.NOT_FOLLOWER
    return None if has["leader"] == message["leaderId"] else _CODE.INCONSISTENT_LEADER


def _refused(turn: Turn, heard: Heard, answer: Mapping[str, Any], refusal: int) -> bool:
    expired = refusal == _CODE.EXPIRED_TERM
    said = {
        "code": refusal,
        "group": heard.body["group"],
        "term": turn.before["curr_term"] if expired else heard.body["term"],
    }
    return _says(answer, said | _of_entries(heard))


def _of_entries(heard: Heard) -> dict[str, int]:
    """Return what an answer says of the entries that were pushed."""
    entries = heard.body["entries"] or [one for one in [heard.body.get("entry")] if one]
    said = {"count": len(entries)}
    return said | {"index": entries[0]["index"]} if entries else said


def _says_its_log(turn: Turn, heard: Heard, answer: Mapping[str, Any]) -> bool:
    """Tell whether it says what its log has, as followers up to 0.3.2 do in all their answers."""
    logs = (turn.before, turn.after)
    begins = {_NONE if has.end == has["begin"] else has["begin"] + 1 for has in logs}
    has_said = answer["beginIndex"] in begins and answer["endIndex"] in {has.end for has in logs}
    return has_said and _says(answer, _of_entries(heard))


def _pushed(turn: Turn, message: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    match message["type"]:
        case "COMPARE":
            return _compared(turn, message, answer)
        case "TRUNCATE":
            return _truncated(turn, message, answer)
        case "APPEND":
            return _appended(turn, message["entries"], answer)
        case _:
            return bool(answer["code"] == _CODE.SUCCESS and answer["term"] == message["term"])


def _compared(turn: Turn, message: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    before, index = turn.before, message["preLogIndex"]
    own = before.term_at(index)
    if own == message["preLogTerm"]:
        same = max(before["same"], index)
        return bool(answer["code"] == _CODE.SUCCESS and turn.after["same"] == same)
    said = {"code": _CODE.INCONSISTENT_STATE, "beginIndex": before["begin"] + 1}
    said |= {"endIndex": before.end, "xTerm": _NONE, "xIndex": _NONE}
    if own is not None:
        first = index
        while first > before["begin"] and before.term_at(first - 1) == own:
            first -= 1
        if before["committed"] < index:  # what is committed a leader has, too
            first = max(first, before["committed"] + 1)
        said |= {"xTerm": own, "xIndex": first}
    return _says(answer, said)


def _truncated(turn: Turn, message: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    before, after, index = turn.before, turn.after, message["preLogIndex"]
    if index <= before["begin"]:
        return bool(answer["code"] == _CODE.INCONSISTENT_STATE and after.log == before.log)
    own = before.term_at(index)
    stays = own is None or own == message["preLogTerm"]
    end = before.end if stays else index - 1
    return (after.end == end or turn.is_cut) and _acknowledged(turn, index - 1, answer)


def _appended(turn: Turn, entries: list[Any], answer: Mapping[str, Any]) -> bool:
    before, after = turn.before, turn.after
    new = [one for one in entries if one["index"] > before["same"]]
    known = [one for one in entries if one["index"] <= before["same"]]
    fits = all(
        one["index"] <= before["begin"] or before.term_at(one["index"]) == one["term"]
        for one in known
    )
    if new:
        fits = fits and before["same"] == before.end == new[0]["index"] - 1
    if not fits:
        return bool(answer["code"] == _CODE.INCONSISTENT_STATE)
    has = all(
        one["index"] <= after["begin"] or after.term_at(one["index"]) == one["term"] for one in new
    )
    return (has or turn.is_cut) and _acknowledged(turn, entries[-1]["index"], answer)


def _acknowledged(turn: Turn, index: int, answer: Mapping[str, Any]) -> bool:
    """What is acknowledged is on the disk; what is not is not known to be the leader's.

    The answer says how far the log reaches.
    """
    after = turn.after
    kept = min(after["same"], after["synced"])
    if not turn.is_cut and "endIndex" in answer and not _says_ends(turn, answer):
        return False
    if answer["code"] != _CODE.SUCCESS:
        return bool(answer["code"] == _CODE.INCONSISTENT_STATE and after["same"] < index)
    said = {"term": after["curr_term"], "index": index}
    return bool(kept >= index) and _says(answer, said)


def _says_ends(turn: Turn, answer: Mapping[str, Any]) -> bool:
    """Tell whether it says where the log begins, before or after what is cut then, and ends."""
    begins = {has["begin"] + 1 for has in (turn.before, turn.after)}
    return answer["beginIndex"] in begins and bool(answer["endIndex"] == turn.after.end)


def _installed(turn: Turn, message: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    before, after, index = turn.before, turn.after, message["lastIncludedIndex"]
    refusal = _refusal(before, message)
    if refusal is None and index <= before["committed"]:
        refusal = _CODE.NEWER_INSTALL_SNAPSHOT_REQUEST_EXIST
    if answer.keys() & _OF_PUSHES:
        return False
    if refusal is not None:
        return bool(answer["code"] == refusal and after["snapshot"] == before["snapshot"])
    has = after["snapshot"] == index and after["applied"] >= index and after["begin"] >= index
    return bool(answer["code"] == _CODE.SUCCESS and has)

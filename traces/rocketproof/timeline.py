"""A recorded run as text: one line an action, with what it changed.

    ms  node        action                    what changed
     0  controller  ElectMaster(b2)           ctl: b2 is master of epoch 1
    17  b2          BecomeMaster(b2)          b2: Slave -> Master, epochs [1@0-]

An epoch is `epoch@start-end`, in records, without the end where it has none; a log is the epochs of
its records. `+` and `-` in front of a packet: it was sent to the slave, the slave has processed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tlatrace.trace import Event, Trace
from tlatrace.values import Fcn, State, TlaSet, Value, canonical

__all__ = ["timeline"]

_COLUMNS: Final = "{:>7}  {:<10}  {:<24}  {}"
_SAME_WORDS: Final = {"ghostActed", "ghostAhead", "ghostLost"}
"""Variables for the checker only."""


def timeline(trace: Trace) -> Iterator[str]:
    """Yield the lines of the timeline, the heading first."""
    yield _COLUMNS.format("ms", "node", "action", "what changed")
    before: State | None = None
    for event in trace.events:
        what = "the initial state" if before is None else _changes(before, event.state or {})
        yield _COLUMNS.format(event.clock or 0, event.node or "", _call(event), what).rstrip()
        before = event.state


def _call(event: Event) -> str:
    params = ", ".join(_plain(param) for param in event.params)
    return f"{event.action}({params})" if params else str(event.action)


def _changes(before: State, after: State) -> str:
    """Say what changed, broker by broker."""
    by_broker: dict[str, list[str]] = {}
    for name, new in after.items():
        old = before[name]
        if new is old or name in _SAME_WORDS:
            continue
        if name == "ctl":
            if canonical(new) != canonical(old):
                by_broker["ctl"] = [f"{_at(new, 'master')} is master of epoch {_at(new, 'epoch')}"]
            continue
        if isinstance(new, TlaSet):
            if new != old:
                by_broker.setdefault("master", []).append(_set_change(name, old, new))
            continue
        for broker, value in _fields(new).items():
            was = _fields(old)[broker]
            if canonical(value) != canonical(was):
                by_broker.setdefault(broker, []).append(_change(name, was, value))
    return "; ".join(f"{broker}: {', '.join(texts)}" for broker, texts in by_broker.items())


def _change(name: str, was: Value, now: Value) -> str:
    match name:
        case "role":
            return f"{_plain(was)} -> {_plain(now)}"
        case "log" | "disk":
            return f"{name} [{_numbers(now)}]"
        case "epochs" | "epochsDisk":
            return f"{name} [{_epochs(now)}]"
        case "link" if "held" in _fields(now):
            return _legacy_link_change(_fields(was), _fields(now))
        case "stale":
            return f"{len(_items(now))} stale connections"
        case "link":
            return _link_change(_fields(was), _fields(now))
        case _:
            return f"{name} {_plain(was)} -> {_plain(now)}"


def _link_change(was: dict[str, Value], now: dict[str, Value]) -> str:
    if "down" not in now:
        lost = len(_items(was["down"]))
        return f"link to {_plain(was['peer'])} gone" + (f", {lost} packets lost" if lost else "")
    if "down" not in was or was["peer"] != now["peer"]:
        return f"link to {_plain(now['peer'])}, +{_packets(_items(now['down']))}"
    texts: list[str] = []
    if was["open"] != now["open"]:
        texts.append(f"link to {_plain(now['peer'])} is dead")
    if was["phase"] != now["phase"]:
        texts.append(f"{_plain(was['phase'])} -> {_plain(now['phase'])}")
    texts += _down_change(_items(was["down"]), _items(now["down"]))
    texts += [
        f"{name} {_plain(was[name])} -> {_plain(now[name])}"
        for name in ("reported", "ack", "next")
        if was[name] != now[name]
    ]
    if canonical(was["cur"]) != canonical(now["cur"]):
        texts.append(f"cur {_epochs((now['cur'],))}")
    return ", ".join(texts)


def _legacy_link_change(was: dict[str, Value], now: dict[str, Value]) -> str:
    """Say what changed of a connection without a controller."""
    if "down" not in now:
        lost = len(_items(was["down"]))
        return "connection gone" + (f", {lost} packets lost" if lost else "")
    if "down" not in was:
        return f"connected, reported {_plain(now['reported'])}"
    texts = ["the master has closed it"] if was["served"] != now["served"] else []
    if len(_items(now["down"])) > len(_items(was["down"])):
        batch = _fields(_items(now["down"])[-1])
        texts.append(f"+batch(from {_plain(batch['offset'])}: {_numbers(batch['recs'])})")
    elif len(_items(now["down"])) < len(_items(was["down"])):
        texts.append("-batch")
    texts += [
        f"{name} {_plain(was[name])} -> {_plain(now[name])}"
        for name in ("reported", "ack", "next")
        if was[name] != now[name]
    ]
    return ", ".join(texts)


def _set_change(name: str, was: Value, now: TlaSet) -> str:
    """Say which records came into a set, and which went."""
    assert isinstance(was, TlaSet)
    texts = [f"+{_element(one)}" for one in now if one not in was]
    texts += [f"-{_element(one)}" for one in was if one not in now]
    return f"{name} {' '.join(texts)}"


def _element(value: Value) -> str:
    parts = [f"{name} {_plain(part)}" for name, part in sorted(_fields(value).items())]
    return f"[{', '.join(parts)}]"


def _down_change(was: tuple[Value, ...], now: tuple[Value, ...]) -> list[str]:
    if len(now) > len(was):
        return [f"+{_packets(now[len(was) :])}"]
    if len(now) < len(was):
        return [f"-{_packets(was[: len(was) - len(now)])}"]
    return []


def _packets(packets: tuple[Value, ...]) -> str:
    return " +".join(_packet(packet) for packet in packets)


def _packet(packet: Value) -> str:
    fields = _fields(packet)
    if fields["type"] == "Handshake":
        return f"handshake(end {_plain(fields['offset'])}, epochs [{_epochs(fields['entries'])}])"
    recs = _numbers(fields["recs"])
    epoch = f"{_plain(fields['epoch'])}@{_plain(fields['start'])}"
    return f"batch({epoch}, from {_plain(fields['offset'])}: {recs})" if recs else f"beat({epoch})"


def _epochs(entries: Value) -> str:
    texts: list[str] = []
    for entry in _items(entries):
        fields = _fields(entry)
        end = fields.get("end", "")
        text = f"{_plain(fields['e'])}@{_plain(fields['s'])}"
        texts.append(text + ("" if end == "" else "-" if end == -1 else f"-{_plain(end)}"))
    return " ".join(texts)


def _numbers(value: Value) -> str:
    return " ".join(_plain(item) for item in _items(value))


def _items(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, tuple), value
    return value


def _fields(value: Value) -> dict[str, Value]:
    assert isinstance(value, Fcn), value
    return value.fields()


def _at(value: Value, name: str) -> str:
    return _plain(_fields(value)[name])


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else canonical(value)

"""What a step changed at brokers that copy a log, as text."""

from __future__ import annotations

from typing import Final

from rocketproof.timeline_text import epochs, fields_of, items, numbers, plain
from tlatrace.values import State, TlaSet, Value, canonical

__all__ = ["broker_changes"]

_SAME_WORDS: Final = {"acted", "ahead", "lost"}
"""Variables for the checker only."""


def broker_changes(before: State, after: State) -> str:
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
        for broker, value in fields_of(new).items():
            was = fields_of(old)[broker]
            if canonical(value) != canonical(was):
                by_broker.setdefault(broker, []).append(_change(name, was, value))
    return "; ".join(f"{broker}: {', '.join(texts)}" for broker, texts in by_broker.items())


def _change(name: str, was: Value, now: Value) -> str:
    match name:
        case "role":
            return f"{plain(was)} -> {plain(now)}"
        case "log" | "disk":
            return f"{name} [{numbers(now)}]"
        case "epochs" | "epochsDisk":
            return f"{name} [{epochs(now)}]"
        case "link" if "held" in fields_of(now):
            return _legacy_link_change(fields_of(was), fields_of(now))
        case "stale":
            return f"{len(items(now))} stale connections"
        case "link":
            return _link_change(fields_of(was), fields_of(now))
        case _:
            return f"{name} {plain(was)} -> {plain(now)}"


def _link_change(was: dict[str, Value], now: dict[str, Value]) -> str:
    if "down" not in now:
        lost = len(items(was["down"]))
        return f"link to {plain(was['peer'])} gone" + (f", {lost} packets lost" if lost else "")
    if "down" not in was or was["peer"] != now["peer"]:
        return f"link to {plain(now['peer'])}, +{_packets(items(now['down']))}"
    texts: list[str] = []
    if was["open"] != now["open"]:
        texts.append(f"link to {plain(now['peer'])} is dead")
    if was["phase"] != now["phase"]:
        texts.append(f"{plain(was['phase'])} -> {plain(now['phase'])}")
    texts += _down_change(items(was["down"]), items(now["down"]))
    texts += [
        f"{name} {plain(was[name])} -> {plain(now[name])}"
        for name in ("reported", "ack", "next")
        if was[name] != now[name]
    ]
    if canonical(was["cur"]) != canonical(now["cur"]):
        texts.append(f"cur {epochs((now['cur'],))}")
    return ", ".join(texts)


def _legacy_link_change(was: dict[str, Value], now: dict[str, Value]) -> str:
    """Say what changed of a connection without a controller."""
    if "down" not in now:
        lost = len(items(was["down"]))
        return "connection gone" + (f", {lost} packets lost" if lost else "")
    if "down" not in was:
        return f"connected, reported {plain(now['reported'])}"
    texts = ["the master has closed it"] if was["served"] != now["served"] else []
    if len(items(now["down"])) > len(items(was["down"])):
        batch = fields_of(items(now["down"])[-1])
        texts.append(f"+batch(from {plain(batch['offset'])}: {numbers(batch['recs'])})")
    elif len(items(now["down"])) < len(items(was["down"])):
        texts.append("-batch")
    texts += [
        f"{name} {plain(was[name])} -> {plain(now[name])}"
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
    parts = [f"{name} {plain(part)}" for name, part in sorted(fields_of(value).items())]
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
    fields = fields_of(packet)
    if fields["type"] == "Handshake":
        return f"handshake(end {plain(fields['offset'])}, epochs [{epochs(fields['entries'])}])"
    recs = numbers(fields["recs"])
    epoch = f"{plain(fields['epoch'])}@{plain(fields['start'])}"
    return f"batch({epoch}, from {plain(fields['offset'])}: {recs})" if recs else f"beat({epoch})"


def _at(value: Value, name: str) -> str:
    return plain(fields_of(value)[name])

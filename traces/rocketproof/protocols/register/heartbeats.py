"""Who has answered heartbeats that were sent since a read began."""

from __future__ import annotations

from rocketha.errors import PacketError
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode
from rocketha.formats.dledger_request_codec import pull_response
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.recording.record import RESPONSE
from rocketha.sim.dledger.machine import MemberStepped
from rocketha.sim.engine.frames import Frame

__all__ = ["Heartbeats"]


class Heartbeats:
    """Reads the heartbeats of all members, and the answers to them, as they are sent."""

    def __init__(self) -> None:
        """Begin without any."""
        self._reads: dict[str, dict[int, set[str]]] = {}
        """Member -> its reads that are not confirmed -> who has answered since."""
        self._sent: dict[str, tuple[str, frozenset[int]]] = {}
        """Heartbeat -> to whom, and the reads that had begun by then."""
        self._agrees: set[str] = set()
        """Answers that say SUCCESS."""

    def begin(self, name: str, ticket: int) -> None:
        """Let a read begin."""
        self._reads.setdefault(name, {})[ticket] = set()

    def forget(self, name: str) -> None:
        """Let a member start again."""
        self._reads.pop(name, None)

    def answered(self, ticket: int) -> int:
        """Return how many others have answered since a read began."""
        found = [reads[ticket] for reads in self._reads.values() if ticket in reads]
        return len(found[0]) if found else 0

    def note(self, name: str, step: MemberStepped) -> None:
        """Look at what arrived at a member, and what it sent."""
        for message in step.received:
            asked = self._sent.get(message.removesuffix(RESPONSE))
            if asked is not None and message in self._agrees:
                peer, since = asked
                for ticket in since & self._reads.get(name, {}).keys():
                    self._reads[name][ticket].add(peer)
        for frame in step.sent:
            self._note_sent(name, frame)

    def _note_sent(self, name: str, frame: Frame) -> None:
        if frame.to is not None:
            if frame.code == DLedgerRequestCode.HEART_BEAT:
                self._sent[frame.id] = frame.to, frozenset(self._reads.get(name, {}))
        elif frame.id.removesuffix(RESPONSE) in self._sent and _says_success(frame):
            self._agrees.add(frame.id)


def _says_success(frame: Frame) -> bool:
    command = RemotingCommand(code=frame.code, opaque=0, flag=FLAG_RESPONSE, body=frame.body)
    try:
        answer = pull_response(command, DLedgerRequestCode.HEART_BEAT)
    except PacketError:
        return False
    return answer.response_code is DLedgerResponseCode.SUCCESS

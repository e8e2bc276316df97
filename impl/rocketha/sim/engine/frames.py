"""What reaches and leaves a node in a step, as whoever stands at its network card sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rocketha.formats.remoting_command import NO_FIELDS
from rocketha.recording.recorder import Parts, StepRecorder

__all__ = ["Frame", "FrameRecorder"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A request that was sent, or an answer."""

    id: str
    """What both ends call it."""
    to: str | None
    """The node at the other end; None: who sent the request that this answers."""
    code: int
    body: bytes
    fields: Mapping[str, str] = field(default_factory=lambda: NO_FIELDS)


class FrameRecorder(StepRecorder):
    """Keeps the frames of the step under way, and tells another recorder everything."""

    __slots__ = ("_frames", "_received", "_then")

    def __init__(self, then: StepRecorder) -> None:
        """Tell this recorder of all that is heard."""
        self._then = then
        self._frames: list[Frame] = []
        self._received: list[str] = []

    def take_received(self) -> tuple[str, ...]:
        """Return what the frames are called that arrived since the last call."""
        received, self._received = tuple(self._received), []
        return received

    def take(self) -> tuple[Frame, ...]:
        """Return the frames that were sent since the last call."""
        frames, self._frames = tuple(self._frames), []
        return frames

    def started(self) -> None:
        """Pass it on."""
        self._then.started()

    def stopped(self, left: Callable[[], Parts]) -> None:
        """Pass it on."""
        self._then.stopped(left)

    def sent(
        self,
        message: str,
        *,
        to: str | None = None,
        code: int | None = None,
        body: bytes | None = None,
        fields: Mapping[str, str] = NO_FIELDS,
    ) -> None:
        """Keep a frame."""
        assert code is not None
        self._frames.append(Frame(message, to, code, body or b"", fields))
        self._then.sent(message, to=to, code=code, body=body, fields=fields)

    def received(self, message: str) -> None:
        """Keep what a frame is called."""
        self._received.append(message)
        self._then.received(message)

    def heard(self, message: object) -> None:
        """Pass it on."""
        self._then.heard(message)

    def answered(self, answer: object) -> None:
        """Pass it on."""
        self._then.answered(answer)

    def stepped(self, event: object, action: object | None) -> None:
        """Pass it on."""
        self._then.stepped(event, action)

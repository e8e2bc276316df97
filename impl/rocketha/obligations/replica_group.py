"""What the brokers and the controller of a group must do in time."""

from __future__ import annotations

from typing import Final

from rocketha.obligations.broker_duties import DUTIES_OF_BROKERS
from rocketha.obligations.controller_duties import DUTIES_OF_THE_CONTROLLER
from rocketha.obligations.controller_members import CONTROLLER_MEMBERS
from rocketha.obligations.controller_restarts import CONTROLLER_RESTARTS
from rocketha.obligations.requests import answers_to_requests
from rocketha.obligations.sent_proposals import SENT_PROPOSALS

__all__ = ["REPLICA_GROUP"]

_ANSWER_MS: Final = 50
"""The controller applies an entry at once; it answers in the step after it."""

REPLICA_GROUP: Final = (
    answers_to_requests(_ANSWER_MS),
    DUTIES_OF_THE_CONTROLLER,
    CONTROLLER_RESTARTS,
    CONTROLLER_MEMBERS,
    DUTIES_OF_BROKERS,
    SENT_PROPOSALS,
)

"""The numbers and remarks of a name server's requests and answers.

| what is asked           | answer                     | when                                     |
|-------------------------|----------------------------|------------------------------------------|
| REGISTER_BROKER         | SUCCESS                    | registered, and also when another broker |
|                         |                            | keeps the brokerId: then without fields  |
|                         | SYSTEM_ERROR, CRC_REMARK   | the body has another checksum            |
|                         | SYSTEM_ERROR, REGISTER_-   | its brokerId is new, and it has exactly  |
|                         | FAILED_REMARK              | one topic                                |
| UNREGISTER_BROKER       | SUCCESS                    | it waits to be done                      |
|                         | SYSTEM_ERROR, no remark    | too many wait                            |
| GET_ROUTEINFO_BY_TOPIC  | SUCCESS                    | there is a route                         |
|                         | TOPIC_NOT_EXIST,           | there is none                            |
|                         | `no_route_remark`          |                                          |
|                         | SYSTEM_ERROR, NOT_READY_-  | it has just started, and is told to wait |
|                         | REMARK                     |                                          |
| QUERY_DATA_VERSION      | SUCCESS                    | always; without body for an unknown one  |
| GET_BROKER_MEMBER_GROUP | SUCCESS, NOT_SET_REMARK    | always; an unknown group has no members  |
| BROKER_HEARTBEAT        | SUCCESS                    | always, whether it is registered or not  |

What cannot be read is answered with SYSTEM_ERROR and the exception's text, a code of no request
with REQUEST_CODE_NOT_SUPPORTED. NOT_SET_REMARK means nothing: it is there until somebody sets
another. NOTIFY_MIN_BROKER_ID_CHANGE goes the other way, and has no answer.

Source: remoting/protocol `RequestCode`, `ResponseCode`, `RemotingSysResponseCode`;
`RemotingCommand.createResponseCommand`; namesrv/processor `DefaultRequestProcessor`,
`ClientRequestProcessor`; common/help `FAQUrl`
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = [
    "CRC_REMARK",
    "NOT_READY_REMARK",
    "NOT_SET_REMARK",
    "REGISTER_FAILED_REMARK",
    "RELEASE_3_0_11",
    "RELEASE_4_9_4",
    "RELEASE_5_0_0",
    "RELEASE_5_3_3",
    "NameServerCode",
    "NameServerResponse",
    "no_route_remark",
]

CRC_REMARK: Final = "crc32 not match"
REGISTER_FAILED_REMARK: Final = "register broker failed"
NOT_READY_REMARK: Final = "name server not ready"
NOT_SET_REMARK: Final = "not set any response code"

RELEASE_3_0_11: Final = 37
"""The number of a release, which each frame has. Source: common `MQVersion`"""
RELEASE_4_9_4: Final = 401
RELEASE_5_0_0: Final = 413
RELEASE_5_3_3: Final = 479

_FAQ_URL: Final = "https://rocketmq.apache.org/docs/bestPractice/06FAQ"


class NameServerCode(IntEnum):
    """What is asked of a name server, but for the last one."""

    REGISTER_BROKER = 103
    UNREGISTER_BROKER = 104
    GET_ROUTEINFO_BY_TOPIC = 105
    QUERY_DATA_VERSION = 322
    GET_BROKER_MEMBER_GROUP = 901
    BROKER_HEARTBEAT = 904
    NOTIFY_MIN_BROKER_ID_CHANGE = 905
    """Told to a broker."""


class NameServerResponse(IntEnum):
    """How it went."""

    SUCCESS = 0
    SYSTEM_ERROR = 1
    REQUEST_CODE_NOT_SUPPORTED = 3
    TOPIC_NOT_EXIST = 17


def no_route_remark(topic: str) -> str:
    """Say that no broker has the topic. Source: ClientRequestProcessor.getRouteInfoByTopic"""
    about = f"No topic route info in name server for the topic: {topic}"
    return f"{about}\nSee {_FAQ_URL} for further details."

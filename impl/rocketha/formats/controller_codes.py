"""The numbers of the controller's requests and responses.

Source: remoting/protocol `RequestCode`, `ResponseCode`, `RemotingSysResponseCode`
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["RequestCode", "ResponseCode"]


class RequestCode(IntEnum):
    """What is asked. All go to a controller, but for the two that say otherwise."""

    BROKER_HEARTBEAT = 904
    ALTER_SYNC_STATE_SET = 1001
    ELECT_MASTER = 1002
    REGISTER_BROKER = 1003
    GET_REPLICA_INFO = 1004
    GET_METADATA_INFO = 1005
    GET_SYNC_STATE_DATA = 1006
    GET_BROKER_EPOCH_CACHE = 1007
    """Asked of a broker."""
    NOTIFY_BROKER_ROLE_CHANGED = 1008
    """Told to a broker."""
    UPDATE_CONTROLLER_CONFIG = 1009
    GET_CONTROLLER_CONFIG = 1010
    CLEAN_BROKER_DATA = 1011
    GET_NEXT_BROKER_ID = 1012
    APPLY_BROKER_ID = 1013
    BROKER_CLOSE_CHANNEL = 1014
    """Only in the controller's log: a broker's connection is closed."""
    CHECK_NOT_ACTIVE_BROKER = 1015
    """Only in the controller's log: look for masters that are gone."""


class ResponseCode(IntEnum):
    """How it went. The names are RocketMQ's without `CONTROLLER_`."""

    SUCCESS = 0
    SYSTEM_ERROR = 1
    REQUEST_CODE_NOT_SUPPORTED = 3
    NO_PERMISSION = 16
    FENCED_MASTER_EPOCH = 2000
    FENCED_SYNC_STATE_SET_EPOCH = 2001
    INVALID_MASTER = 2002
    INVALID_REPLICAS = 2003
    MASTER_NOT_AVAILABLE = 2004
    INVALID_REQUEST = 2005
    BROKER_NOT_ALIVE = 2006
    NOT_LEADER = 2007
    BROKER_METADATA_NOT_EXIST = 2008
    INVALID_CLEAN_BROKER_METADATA = 2009
    BROKER_NEED_TO_BE_REGISTERED = 2010
    MASTER_STILL_EXIST = 2011
    ELECT_MASTER_FAILED = 2012
    ALTER_SYNC_STATE_SET_FAILED = 2013
    BROKER_ID_INVALID = 2014
    JRAFT_INTERNAL_ERROR = 2015
    BROKER_LIVE_INFO_NOT_EXISTS = 2016

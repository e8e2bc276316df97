"""Where a master replicates: it says so to a slave, or a slave asks for it.

EXCHANGE_BROKER_HA_INFO (906), both ways without a body:

| frame             | fields                                                                 |
|-------------------|------------------------------------------------------------------------|
| request, tells    | masterHaAddress, masterFlushOffset L, masterAddress                    |
| request, asks     | none of them                                                           |
| answer            | the same three, if a master is asked; else none                        |

L: 64 bits. That a request tells is seen by its masterHaAddress; each field may be missing, and what
has no flush offset says 0.

Source: remoting/protocol/header `ExchangeHAInfoRequestHeader`, `ExchangeHAInfoResponseHeader`,
remoting/protocol `BrokerSyncInfo`; broker/out `BrokerOuterAPI` (`sendBrokerHaInfo`,
`retrieveBrokerHaInfo`), broker/processor `AdminBrokerProcessor.updateBrokerHaInfo`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocketha.errors import RequestError
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.types import HaAddress, Offset

__all__ = ["BrokerSyncInfo", "pull_ha_info", "push_ha_info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSyncInfo:
    """Where slaves connect to, and whom they copy from."""

    master_ha_address: HaAddress
    master_flush_offset: Offset
    master_address: str | None = None


def push_ha_info(info: BrokerSyncInfo) -> Mapping[str, str]:
    """Write the fields of a request that tells, or of an answer."""
    return push_fields(
        {
            "masterHaAddress": info.master_ha_address,
            "masterFlushOffset": info.master_flush_offset,
            "masterAddress": info.master_address,
        }
    )


def pull_ha_info(fields: Mapping[str, str]) -> BrokerSyncInfo | None:
    """Read fields; None: who wrote them asks, or is no master.

    Raises: RequestError
    """
    reader = FieldReader(fields)
    address = reader.optional_text("masterHaAddress")
    if address is None:
        return None
    if not address.strip():
        raise RequestError("masterHaAddress", reason="is blank")
    return BrokerSyncInfo(
        master_ha_address=HaAddress(address),
        master_flush_offset=Offset(reader.optional_int64("masterFlushOffset", least=0) or 0),
        master_address=reader.optional_text("masterAddress"),
    )

"""The term file: in which term a DLedger node is, and whom it voted for in it.

`currterm`, lines as in `dledger_lines`

| key        | value                                                                        |
|------------|------------------------------------------------------------------------------|
| currTerm   | the term, 0 or more                                                          |
| voteLeader | id of the node that it voted for in this term; nothing if it did not vote    |

A vote that is forgotten is given twice. DLedger writes `currterm.tmp`, copies the file to
`currterm.bak`, deletes it, and renames; it synchronizes nothing, an error is only logged, and a
file that is not there or cannot be read is term 0 without a vote, also when only the rename is
missing. Here a file that cannot be read is refused, and has a checksum; who writes it synchronizes
it and its name before the vote goes out. DLedger reads ours, and writes it back without the
checksum: then it is read only if the caller asks for that, and a changed bit in a digit or in a
name is not noticed.

Source: MemberState (`loadPersistentState`, `persistState`; up to 0.3.2 `loadTerm`, `persistTerm`)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rocketha.errors import EncodingError, TermFileError
from rocketha.formats.dledger_lines import BadLineError, decode_lines, decode_number, encode_lines
from rocketha.types import INT64_MAX, Term

__all__ = ["TERM_FILE", "TermAndVote", "decode_term_file", "encode_term_file"]

TERM_FILE: Final = "currterm"
"""The name of the file in the folder of its node."""

_FIRST_TERM: Final = Term(0)
_TERM: Final = "currTerm"
_VOTE: Final = "voteLeader"


@dataclass(frozen=True, slots=True, kw_only=True)
class TermAndVote:
    """What a node must never forget."""

    curr_term: Term = _FIRST_TERM
    vote_leader: str | None = None


def encode_term_file(kept: TermAndVote, *, checked: bool = True) -> bytes:
    """Write the file; unchecked as DLedger does. Raises: EncodingError"""
    if not 0 <= kept.curr_term <= INT64_MAX:
        raise EncodingError(_TERM, reason=f"is {kept.curr_term}")
    if kept.vote_leader == "":
        raise EncodingError(_VOTE, reason="has no name")
    try:
        lines = {_VOTE: kept.vote_leader or "", _TERM: str(kept.curr_term)}
        return encode_lines(lines, checked=checked)
    except BadLineError as error:
        raise EncodingError(TERM_FILE, reason=error.reason) from None


@lru_cache(1024)  # whoever records a node looks at every step
def decode_term_file(data: bytes, *, accept_unchecked: bool = False) -> TermAndVote:
    """Read the file, with `accept_unchecked` also one that DLedger wrote. Raises: TermFileError"""
    try:
        lines = decode_lines(data, {_TERM, _VOTE}, accept_unchecked=accept_unchecked)
        term = decode_number(lines[_TERM], _TERM, least=0, most=INT64_MAX)
    except BadLineError as error:
        raise TermFileError(TERM_FILE, offset=error.offset, reason=error.reason) from None
    return TermAndVote(curr_term=Term(term), vote_leader=lines[_VOTE] or None)

"""The term file: in which term a DLedger node is, and whom it voted for in it.

`currterm`, lines as in `dledger_lines`

| key        | value                                                                        |
|------------|------------------------------------------------------------------------------|
| currTerm   | the term, 0 or more                                                          |
| voteLeader | id of the node that it voted for in this term; nothing if it did not vote    |
| refillTerm | of a node that has thrown its log away: of which term, or a later one, its   |
|            | last entry must be before it votes; DLedger has no such line                 |

A vote that is forgotten is given twice. DLedger writes `currterm.tmp`, copies the file to
`currterm.bak`, deletes it, and renames; it synchronizes nothing, an error is only logged, and a
file that is not there or cannot be read is term 0 without a vote, also when only the rename is
missing. Here a file that cannot be read is refused, and has a checksum; who writes it synchronizes
it and its name before the vote goes out. DLedger reads ours, and writes it back without the
checksum and without `refillTerm`: then it is read only if the caller asks for that, and a changed
bit in a digit or in a name is not noticed.

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
_REFILL: Final = "refillTerm"
_NONE: Final = Term(-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermAndVote:
    """What a node must never forget."""

    curr_term: Term = _FIRST_TERM
    vote_leader: str | None = None
    refill_term: Term = _NONE
    """The term of its last entry must not be below this one when it votes; -1: it may be any.

    Spec: DLedger!MayVote
    """


def encode_term_file(kept: TermAndVote, *, checked: bool = True) -> bytes:
    """Write the file; unchecked as DLedger does. Raises: EncodingError"""
    if not 0 <= kept.curr_term <= INT64_MAX:
        raise EncodingError(_TERM, reason=f"is {kept.curr_term}")
    if not _NONE <= kept.refill_term <= kept.curr_term:
        raise EncodingError(_REFILL, reason=f"is {kept.refill_term} in term {kept.curr_term}")
    if kept.vote_leader == "":
        raise EncodingError(_VOTE, reason="has no name")
    try:
        lines = {_VOTE: kept.vote_leader or "", _TERM: str(kept.curr_term)}
        if kept.refill_term != _NONE:
            lines[_REFILL] = str(kept.refill_term)
        return encode_lines(lines, checked=checked)
    except BadLineError as error:
        raise EncodingError(TERM_FILE, reason=error.reason) from None


@lru_cache(1024)  # whoever records a node looks at every step
def decode_term_file(data: bytes, *, accept_unchecked: bool = False) -> TermAndVote:
    """Read the file, with `accept_unchecked` also one that DLedger wrote. Raises: TermFileError"""
    try:
        lines = decode_lines(
            data, {_TERM, _VOTE}, accept_unchecked=accept_unchecked, optional={_REFILL}
        )
        term = decode_number(lines[_TERM], _TERM, least=0, most=INT64_MAX)
        refill = int(_NONE)
        if _REFILL in lines:
            refill = decode_number(lines[_REFILL], _REFILL, least=0, most=term)
    except BadLineError as error:
        raise TermFileError(TERM_FILE, offset=error.offset, reason=error.reason) from None
    vote = lines[_VOTE] or None
    return TermAndVote(curr_term=Term(term), vote_leader=vote, refill_term=Term(refill))

"""`corpora.json`: a folder of corpora, one for each set of constants that its traces have.

A specification is checked with one set of constants at a time, so each set has a corpus of its own,
which is whole: it can be judged, copied or thrown away alone.

<folder>/corpora.json       written last: the corpora, and the checksums of what their manifests say
<folder>/constants-<hash>/  a corpus, see `manifest`
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tlatrace.corpus.manifest import CORPORA, MANIFEST, CorpusManifest, finish, read_sealed, seal
from tlatrace.corpus.places import is_place
from tlatrace.errors import CorpusError

__all__ = ["MAX_CORPORA", "corpora_in", "finish_corpora", "sum_of_corpora"]

MAX_CORPORA: Final = 256
"""More sets of constants are refused: for each one a specification is read and compiled."""

_FORMAT: Final = "rocketproof-corpora"
_VERSION: Final = 1


def finish_corpora(folder: Path, manifests: Mapping[str, CorpusManifest]) -> None:
    """Finish the corpora in folders of these names, and then the folder of them.

    Raises:
        CorpusError: a folder cannot be written.
    """
    for name, manifest in manifests.items():
        finish(folder / name, manifest)
    corpora = {name: _sha256(folder / name) for name in sorted(manifests)}
    seal(folder, CORPORA, {"format": _FORMAT, "version": _VERSION, "corpora": corpora})


def corpora_in(folder: Path) -> tuple[Path, ...]:
    """Return the corpora in a folder; the folder itself where it is no folder of corpora.

    Raises:
        CorpusError: it is damaged, or one of its corpora is another one, or missing.
    """
    path = folder / CORPORA
    if not path.exists():
        return (folder,)
    listed = read_sealed(path, _FORMAT, _VERSION).get("corpora")
    if not isinstance(listed, dict) or not listed or not all(map(is_place, listed)):
        raise CorpusError(path, '"corpora" must name folders of corpora')
    for name, sha256 in listed.items():
        if _sha256(folder / name) != sha256:
            raise CorpusError(folder / name, f"is not the corpus that {CORPORA} names")
    return tuple([folder / name for name in listed])


def sum_of_corpora(manifests: Sequence[CorpusManifest]) -> CorpusManifest:
    """Say what corpora hold together, of which there is one at least; it is nobody's manifest."""
    return replace(
        manifests[0],
        constants={},
        traces=sum(manifest.traces for manifest in manifests),
        steps=sum(manifest.steps for manifest in manifests),
        failed=sum(manifest.failed for manifest in manifests),
        files=None,
    )


def _sha256(folder: Path) -> str:
    """Return the checksum of a corpus's manifest, which has those of its files."""
    path = folder / MANIFEST
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise CorpusError(path, f"cannot be read ({error.strerror})") from error

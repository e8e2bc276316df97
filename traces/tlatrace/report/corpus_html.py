"""The result of a corpus validation as one HTML page without anything from elsewhere.

Everything is made harmless and escaped: names and values come from traces, and traces come from
anywhere. The page
has no script, and a policy in it forbids the browser to load or run anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import jinja2

from tlatrace.corpus.result import CorpusResult
from tlatrace.harmless import harmless
from tlatrace.report.corpus_json import corpus_json
from tlatrace.report.corpus_text import source_text

__all__ = ["add_section", "corpus_html", "write_corpus_html"]

_TEMPLATE: Final = Path(__file__).with_name("corpus.html.j2")
_END: Final = "</body>\n</html>"
_SECTION: Final = """
<h2>{{ title }}</h2>
<p>{{ words }}</p>
<pre class="command">{{ command }}</pre>
<pre>{% for line in lines %}{{ line }}
{% endfor %}</pre>
"""


@dataclass(frozen=True, slots=True)
class _Bar:
    """A row of a table with a bar; `share` is percent of the largest."""

    name: str
    count: int
    share: float
    extra: int | None = None


def corpus_html(result: CorpusResult, limit: int) -> str:
    """Write the page; at most `limit` diverging and as many undecided traces are listed."""
    template = _environment().from_string(_TEMPLATE.read_text("utf-8"))
    most = max(result.actions.values(), default=0) or 1
    actions = [_Bar(name, count, 100 * count / most) for name, count in result.actions.items()]
    strikes = max([fault.strikes for fault in result.faults.values()], default=0) or 1
    faults = [
        _Bar(name, fault.strikes, 100 * fault.strikes / strikes, fault.traces)
        for name, fault in result.faults.items()
    ]
    return template.render(
        data=corpus_json(result, limit),
        source=source_text(result),
        actions=sorted(actions, key=lambda bar: -bar.count),
        faults=sorted(faults, key=lambda bar: -bar.count),
        sha256=result.manifest.spec_sha256 if result.manifest else None,
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda shown: harmless(shown) if isinstance(shown, str) else shown,
    )
    environment.filters["n"] = lambda count: f"{count:,}"
    return environment


def write_corpus_html(path: Path, result: CorpusResult, limit: int) -> None:
    """Write the page to a file, whose folder is made if it is missing.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(corpus_html(result, limit), "utf-8")


def add_section(path: Path, *, title: str, words: str, command: str, text: str) -> None:
    """Add to the end of a page what a command printed; nothing of it becomes a tag.

    Raises:
        OSError: the page cannot be read or written.
        ValueError: it is no page of `write_corpus_html`.
    """
    page = path.read_text("utf-8")
    before, end, after = page.rpartition(_END)
    if not end:
        raise ValueError(f"{path} does not end as a report does")
    section = _environment().from_string(_SECTION)
    shown = section.render(title=title, words=words, command=command, lines=text.splitlines())
    path.write_text(f"{before}{shown}{end}{after}", "utf-8")

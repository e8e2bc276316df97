"""Verdicts as JUnit XML: a test case for each trace.

A divergence is a failure. An undecided or unreadable trace is an error, not a skipped test: build
servers count those as passed. What the trace has logged of the specification is its output.

Source: the JUnit schema of Apache Ant, as build servers read it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

from tlatrace.harmless import harmless
from tlatrace.report.results import TraceResult

__all__ = ["junit_xml"]


def junit_xml(results: Sequence[TraceResult], *, seconds: float) -> str:
    """Write the results as one test suite that took `seconds`."""
    failures = sum(result.status == "diverges" for result in results)
    errors = sum(result.status in ("undecided", "unreadable") for result in results)
    counts = {
        "name": "rocketproof validate",
        "tests": str(len(results)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", counts)
    for result in results:
        path = harmless(result.path)  # which leaves nothing that XML 1.0 cannot hold
        names = {"classname": result.spec or "trace", "name": path}
        case = ElementTree.SubElement(suite, "testcase", {**names, "file": path})
        if result.status != "conforms":
            tag = "failure" if result.status == "diverges" else "error"
            attributes = {"type": result.status, "message": result.text}
            ElementTree.SubElement(case, tag, attributes).text = result.text
        if result.logged is not None:
            ElementTree.SubElement(case, "system-out").text = result.logged.text()
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"

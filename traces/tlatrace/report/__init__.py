"""Verdicts for machines and people: JUnit, SARIF, Markdown."""

from __future__ import annotations

"""Hostile input: changed texts, rows and files, and what the readers make of them.

`changes` damages texts and bytes, `material` draws good ones; `texts`, `rows` and `files` compare
what the fast readers say with what the plain reading says, `flips` turns single bits of a corpus.
"""

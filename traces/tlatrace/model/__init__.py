"""Compile TLA+ into Python: the text of a specification as a fast oracle.

SANY parses and checks; the compiler turns its tree into Python for predicates and successors. What
it accepts is written in `spec/SUBSET.md`; everything else is refused, never approximated.
"""

from tlatrace.model.conjuncts import Conjunct
from tlatrace.model.load import load_model
from tlatrace.model.model import FalseConjunct, Model
from tlatrace.model.model_source import ModelSource
from tlatrace.model.states import ModelState, Step

__all__ = ["Conjunct", "FalseConjunct", "Model", "ModelSource", "ModelState", "Step", "load_model"]

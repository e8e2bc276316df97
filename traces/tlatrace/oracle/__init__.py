"""A specification that answers: what it allows, what its invariants say, which steps it has.

The compiler's text is executed (`model`), and asked for whole corpora (`checker`).
"""

from tlatrace.compiler.model_source import Conjunct, ModelSource
from tlatrace.oracle.load import load_model
from tlatrace.oracle.model import FalseConjunct, Model
from tlatrace.oracle.states import ModelState, Step

__all__ = ["Conjunct", "FalseConjunct", "Model", "ModelSource", "ModelState", "Step", "load_model"]

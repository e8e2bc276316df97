"""TLA+ text as formulas for z3: states and steps in which numbers are unknown and of any size."""

from tlatrace.symbolic.specification import Specification, open_specification
from tlatrace.symbolic.steps import Step

__all__ = ["Specification", "Step", "open_specification"]

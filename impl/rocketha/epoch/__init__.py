"""Which epoch wrote which part of the log, and where two replicas are sure to agree."""

from rocketha.epoch.cache import EpochCache, recover_epochs
from rocketha.epoch.consistent_point import consistent_point
from rocketha.epoch.rules import EPOCH_RULES, EpochRules

__all__ = ["EPOCH_RULES", "EpochCache", "EpochRules", "consistent_point", "recover_epochs"]

"""Which epoch wrote which part of the log, and where two replicas are sure to agree."""

from rocketha.epoch.cache import EpochCache, consistent_point, recover_epochs

__all__ = ["EpochCache", "consistent_point", "recover_epochs"]

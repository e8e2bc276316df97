"""The `rocketproof` command, and what joins the implementation to its specification."""

__version__ = "0.1.0"

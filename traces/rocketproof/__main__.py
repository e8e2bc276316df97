"""`python -m rocketproof` is the same as the command `rocketproof`."""

from __future__ import annotations

from rocketproof.cli import main

if __name__ == "__main__":
    main()

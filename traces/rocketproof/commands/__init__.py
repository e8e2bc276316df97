"""One module a command, each exposing a click command named `command`."""

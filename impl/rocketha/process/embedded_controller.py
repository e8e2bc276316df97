"""A name server with a controller in its process, as `enableControllerInNamesrv` has it.

Each has a loop and a thread of its own: when the controller's disk fails, the name server goes on.
When the name server is told to stop, both do.

Source: namesrv `NamesrvStartup.createControllerManager`
"""

from __future__ import annotations

from threading import Thread

from rocketha.errors import RockethaError
from rocketha.process.command_line import Serving
from rocketha.process.event_loop import EventLoop, Log

__all__ = ["NameServerWithController"]


class NameServerWithController:
    """Both of them."""

    def __init__(self, name_server: Serving, controller: Serving, *, log: Log) -> None:
        """Take two nodes that are ready."""
        self._name_server = name_server
        self._controller = controller
        self._log = log

    @property
    def loop(self) -> EventLoop:
        """What moves the name server."""
        return self._name_server.loop

    def run(self) -> None:
        """Serve until the name server is told to stop."""
        thread = Thread(target=self._run_controller, name="controller")
        thread.start()
        try:
            self._name_server.run()
        finally:
            self._controller.loop.from_thread(self._controller.loop.stop)
            thread.join()

    def _run_controller(self) -> None:
        try:
            self._controller.run()
        except (RockethaError, OSError) as error:
            self._log(f"the controller cannot go on: {error}")

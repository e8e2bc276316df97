"""The options that say where Spark is, and the session that they ask for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Final, TypeVar

import click
from rich.console import Console

from tlatrace.corpus.masters import is_master

if TYPE_CHECKING:  # imported when it is needed: `--help` does not wait for Spark
    from tlatrace.corpus.session import SparkSession

__all__ = ["SparkPlace", "open_spark", "spark_options"]

R = TypeVar("R")

_PACKAGES: Final = ("tlatrace", "rocketha", "rocketproof")
"""What executors need of ours."""
_KEY: Final = re.compile(r"spark\.[\w.\-]+")
_OTHERWISE: Final = {"spark.master": "--master", "spark.submit.deployMode": "nothing: it is client"}


@dataclass(frozen=True, slots=True)
class SparkPlace:
    """Where Spark is to run, and how it is to be set."""

    master: str | None
    """As Spark spells it; None for a session of our own, in this process."""
    settings: tuple[tuple[str, str], ...] = ()


def _read_settings(
    _: click.Context, __: click.Parameter, texts: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    settings: dict[str, str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not _KEY.fullmatch(key) or not value.isprintable():
            raise click.BadParameter(f"{text!r} is not spark.KEY=VALUE")
        if key in _OTHERWISE:
            raise click.BadParameter(f"{key} is said with {_OTHERWISE[key]}")
        if key in settings:
            raise click.BadParameter(f"{key} is given twice")
        settings[key] = value
    return tuple(settings.items())


def _read_master(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    if text is not None and not is_master(text):
        raise click.BadParameter(
            f"{text!r} is none of local[N], spark://HOST:PORT, yarn, k8s://URL"
        )
    return text


def spark_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command --master and --spark-conf, and hand over where Spark is as `place`.

    With one of them, `driver` has to be one that is Spark.
    """

    @click.option(
        "--master",
        metavar="URL",
        callback=_read_master,
        help="Spark's master: spark://HOST:PORT, yarn, local[N], ... Your SPARK_HOME and"
        " configuration are respected then; all executors must see the folder.",
    )
    @click.option(
        "--spark-conf",
        "settings",
        multiple=True,
        metavar="K=V",
        callback=_read_settings,
        help="A setting of Spark; may be given more than once.",
    )
    @wraps(command)
    def placed(
        *given: object,
        master: str | None,
        settings: tuple[tuple[str, str], ...],
        driver: str,
        cores: int | None,
        **rest: object,
    ) -> R:
        place = SparkPlace(master, settings)
        driver = _suited(place, driver, cores)
        return command(*given, place=place, driver=driver, cores=cores, **rest)

    return placed


def _suited(place: SparkPlace, driver: str, cores: int | None) -> str:
    """Choose Spark where its place is given; refuse what contradicts it.

    Raises:
        click.UsageError: the options contradict each other.
    """
    if place.master is None and not place.settings:
        return driver
    option = "--spark-conf" if place.master is None else "--master"
    if place.master is not None and cores is not None:
        raise click.UsageError("--cores is of this machine; a master has spark.cores.max")
    source = click.get_current_context().get_parameter_source("driver")
    if source is click.core.ParameterSource.DEFAULT:
        return "spark"
    if not driver.startswith("spark"):
        raise click.UsageError(f"{option} is of Spark, and --driver is {driver}")
    return driver


@contextmanager
def open_spark(place: SparkPlace, cores: int | None) -> Iterator[SparkSession]:
    """Open a Spark session, and say so on a terminal while it starts."""
    from tlatrace.corpus.cluster import open_cluster
    from tlatrace.corpus.session import open_session

    console = Console(stderr=True)
    status = console.status("starting Spark")
    settings = dict(place.settings)
    if console.is_terminal:
        status.start()
    try:
        if place.master is None:
            opened = open_session(cores, settings=settings)
        else:
            opened = open_cluster(place.master, settings, packages=_PACKAGES)
        with opened as spark:
            status.stop()
            yield spark
    finally:
        status.stop()

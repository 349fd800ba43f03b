"""The desk a job works at: what is not part of the question.

Python makes one when none is given: all cores, no bars, noise from the operating system. A surface brings its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer
from typing import TYPE_CHECKING

from aidos.core.noise import Noise
from aidos.core.progress import SILENT, Progress

if TYPE_CHECKING:
    from aidos.engine.embedded import EmbeddedEngine

__all__ = ["Desk"]

SECONDS_BEFORE_REMARK = 3.0


def _nobody(words: str) -> None:
    """Nobody listens to remarks."""


def _no_answer(question: str) -> str | None:  # noqa: ARG001
    """Nobody is there to answer questions."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Engine, progress, noise, and somebody to tell remarks to."""

    memory: str = ""
    """Most memory the engine may take, for example 1GB; what is larger spills to disk."""
    threads: int | None = None
    """Threads the engine may use; all cores if unset."""
    progress: Progress = SILENT
    """Who is told how far long work has come."""
    noise: Noise = field(default_factory=Noise)
    """Where randomness comes from: the operating system, unless a seed is wanted, which takes every promise away."""
    remark: Callable[[str], None] = _nobody
    """Who is told what is worth knowing beside the answer."""
    ask: Callable[[str], str | None] = _no_answer
    """Who answers the questions of a job that has some, such as ``input``; None where there is no answer."""
    asked: str = ""
    """The question as it was asked, for pages that tell how to ask it again: the command, or the call."""

    @property
    def in_terminal(self) -> bool:
        """Whether the question was typed as a command."""
        return self.asked.partition(" ")[0] == "aidos"

    def spelled(self, parameter: str, value: object = None) -> str:
        """A parameter as whoever asks writes it, with a value where it needs one: ``--without-ledger``."""
        if self.in_terminal:
            said = "" if value is None or value is True else f" {value}"
            return f"--{parameter.replace('_', '-')}{said}"
        return parameter if value is None else f"{parameter}={value!r}"

    @contextmanager
    def engine(self) -> Iterator[EmbeddedEngine]:
        """The embedded engine, with this desk's memory, threads and progress."""
        from aidos.engine.embedded import EmbeddedEngine

        with EmbeddedEngine(memory=self.memory, threads=self.threads, progress=self.progress) as engine:
            yield engine

    @contextmanager
    def remark_if_slow(self, words: str) -> Iterator[None]:
        """Say why nothing happens, once it has taken longer than anybody expects."""
        waiting = Timer(SECONDS_BEFORE_REMARK, self.remark, args=(words,))
        waiting.daemon = True
        waiting.start()
        try:
            yield
        finally:
            waiting.cancel()

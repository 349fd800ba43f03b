"""What several of the jobs take: where a ranking is kept, and what the adversary is taken to know."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, cast

from annotated_types import Ge, Le

from aidos.core.limits import ROUNDS
from aidos.jobs.desk import SECONDS_BEFORE_REMARK, Desk
from aidos.jobs.job import Named

if TYPE_CHECKING:
    from aidos.report.page import Facts
    from aidos.report.values import Value
    from aidos.rooms.risk.directory import RiskDirectory
    from aidos.rooms.risk.models import Knowledge

__all__ = ["InRanking", "Knowing", "Rounds", "Timeless", "remark_if_compiling", "told_facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InRanking:
    """A job that looks into a ranking, or changes it."""

    directory: Annotated[Path, Named("--in")]
    """The directory that `aidos risk rank` wrote."""

    def ranking(self) -> RiskDirectory:
        """As a value."""
        from aidos.rooms.risk.directory import RiskDirectory

        return RiskDirectory(Path(self.directory))


@dataclass(frozen=True, kw_only=True)
class Timeless:
    """A job on entries, which may have no times."""

    without_times: bool = False
    """Read files with author_id and text, and no look at times."""


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """How long models are learned, and how large they become."""

    iterations: Annotated[int, Ge(1), ROUNDS] = 150
    """Rounds of sampling."""
    dimensions: Annotated[int, Ge(1), Le(10_000)] = 100
    """Numbers of a word vector."""
    epochs: Annotated[int, Ge(1), ROUNDS] = 5
    """Rounds over the texts for word vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowing:
    """Models and topics."""

    model: Path | None = None
    """A directory that `aidos risk train` wrote; the bundled model, trained on the sample world, if unset."""

    topic_file: Annotated[Path | None, Named("--topics")] = None
    """Sensitive topics and their words, as `aidos risk topics --export` writes them; the usual ones if unset."""

    vectors: Path | None = None
    """Word vectors of a file (word2vec, GloVe or .npz), for measures in the space w2v."""

    match: tuple[str, ...] = ()
    """Correct which latent topic is which, for example debt=17 or debt=none; may be repeated."""

    def knowledge(self, desk: Desk) -> Knowledge:
        """As a value, with a remark where the bundled model is taken."""
        found = self.silently()
        if found.shipped:
            desk.remark("the topic model is the one that comes along, trained on the sample world")
        return found

    def silently(self, topic_file: Path | None = None) -> Knowledge:
        """As a value, with other topics where a file is given."""
        from aidos.rooms.risk.models import load_knowledge

        return load_knowledge(self.model, topic_file or self.topic_file, self.vectors, self.match)


def told_facts(facts: Mapping[str, object]) -> Facts:
    """Facts for people to read, all of them: a count of nothing says something here."""
    from aidos.report.page import Facts

    return Facts(tuple((name.replace("_", " "), cast("Value", value)) for name, value in facts.items()))


@contextmanager
def remark_if_compiling(desk: Desk) -> Iterator[None]:
    """Say why it takes long, if it does and code is being compiled, which happens once."""
    waiting = Timer(SECONDS_BEFORE_REMARK, _remark, args=(desk,))
    waiting.daemon = True
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


def _remark(desk: Desk) -> None:
    if any(map(_was_compiled, list(sys.modules.values()))):
        desk.remark("the first run also compiles; the next will find it ready")


def _was_compiled(module: ModuleType | None) -> bool:
    """Whether a function of a module of kernels was not found compiled on the disk."""
    if module is None or not module.__name__.startswith("aidos.") or "kernels" not in module.__name__:
        return False
    stats = [getattr(value, "stats", None) for value in vars(module).values()]
    return any(getattr(each, "cache_misses", None) for each in stats)

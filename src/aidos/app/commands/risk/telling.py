"""What the risk commands have in common: where they look, and what they take the adversary to know."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, tell
from aidos.errors import MissingExtraError

if TYPE_CHECKING:
    from aidos.app.risk.directory import RiskDirectory
    from aidos.app.risk.knowledge import Knowledge

__all__ = ["Knowing", "Where", "remark_if_compiling", "require_extra"]

SECONDS_BEFORE_REMARK = 3.0


def require_extra() -> None:
    """Say which extra is missing, where the compiler is not installed: it has other names in other rooms."""
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("ranking people by risk", extra="risk") from error


@contextmanager
def remark_if_compiling(*, quiet: bool) -> Iterator[None]:
    """Say why it takes long, if it does and code is being compiled, which happens once."""
    waiting = Timer(SECONDS_BEFORE_REMARK, _remark, kwargs={"quiet": quiet})
    waiting.daemon = True
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


def _remark(*, quiet: bool) -> None:
    if any(map(_was_compiled, list(sys.modules.values()))):
        tell("the first run also compiles; the next will find it ready", quiet=quiet)


def _was_compiled(module: ModuleType | None) -> bool:
    """Whether a function of a module of kernels was not found compiled on the disk."""
    if module is None or not module.__name__.startswith("aidos.") or "kernels" not in module.__name__:
        return False
    stats = [getattr(value, "stats", None) for value in vars(module).values()]
    return any(getattr(each, "cache_misses", None) for each in stats)


@Parameter(name="*", group="Where to look")
@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The directory that is asked."""

    directory: Annotated[Path, Parameter(name=["--in"])]
    """The directory that `aidos risk rank` wrote."""

    def ranking(self) -> RiskDirectory:
        """As a value."""
        require_extra()
        from aidos.app.risk.directory import RiskDirectory

        return RiskDirectory(self.directory)


@Parameter(name="*", group="What the adversary knows")
@dataclass(frozen=True, slots=True, kw_only=True)
class Knowing:
    """Models and topics."""

    model: Path | None = None
    """A directory that `aidos risk train` wrote; the model trained on the sample world unless given."""

    topic_file: Annotated[Path | None, Parameter(name=["--topics"])] = None
    """Sensitive topics and their words, as `aidos risk topics --export` writes them; the usual ones unless given."""

    vectors: Path | None = None
    """Word vectors of a file (word2vec, GloVe or .npz), for measures in the space w2v."""

    match: Sequence[str] = ()
    """Correct which latent topic is which, for example debt=17 or debt=none; may be repeated."""

    def knowledge(self, common: Common) -> Knowledge:
        """As a value, with a remark where the model that comes along is taken."""
        found = self.silently()
        if found.shipped:
            tell("the topic model is the one that comes along, trained on the sample world", quiet=common.quiet)
        return found

    def silently(self, topic_file: Path | None = None) -> Knowledge:
        """As a value, with other topics where a file is given."""
        require_extra()
        from aidos.app.risk.knowledge import load_knowledge

        return load_knowledge(self.model, topic_file or self.topic_file, self.vectors, self.match)

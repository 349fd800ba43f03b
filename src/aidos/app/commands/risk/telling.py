"""What the risk commands have in common: where they look, and what they take the adversary to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, tell

if TYPE_CHECKING:
    from aidos.app.risk.directory import RiskDirectory
    from aidos.app.risk.knowledge import Knowledge

__all__ = ["Knowing", "Where"]


@Parameter(name="*", group="Where to look")
@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The directory that is asked."""

    directory: Annotated[Path, Parameter(name=["--in"])]
    """The directory that `aidos risk rank` wrote."""

    def ranking(self) -> RiskDirectory:
        """As a value."""
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
        from aidos.app.risk.knowledge import load_knowledge

        found = load_knowledge(self.model, self.topic_file, self.vectors, self.match)
        if found.shipped:
            tell("the topic model is the one that comes along, trained on the sample world", quiet=common.quiet)
        return found

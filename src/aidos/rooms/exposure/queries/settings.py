"""What is asked of a community's search: how it ranks, how deep people look, how ties fall, what counts as a match.

Search exposure is reverse search: for every post, the queries that return it among the first k. Queries are all single
words and all pairs of words that some post holds together. The settings say how the search behaves; they are kept
beside every result, and results of other settings are never mixed.

Nothing is promised about the real search engine beyond this model of it, and what is found is the truth about people:
a finding, never a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.progress import SILENT, Progress
from aidos.model.retrieval.scorers import parse_scorer
from aidos.model.text.analyser import Analyser

if TYPE_CHECKING:
    from aidos.engine.embedded import EmbeddedTable
    from aidos.rooms.exposure.queries.estimate import Room
    from aidos.rooms.exposure.queries.manifest import Facts

__all__ = ["MEMORY", "CommunityPosts", "SearchExposure", "Semantics", "Ties"]

Semantics = Literal["or", "and"]
Ties = Literal["newest", "oldest", "id"]
LARGEST_K = 100
LONGEST_POST = 1_000_000
"""For every length a number is kept."""
MEMORY = "2GB"
"""What computing may take for the index, unless said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommunityPosts:
    """The posts that are searched, and where what is found goes."""

    table: EmbeddedTable
    """With the columns of `aidos.core.records.POSTS`."""
    target: Path
    """The directory to write, or to go on with."""
    memory: str = MEMORY
    threads: int | None = None
    """All cores unless given."""
    progress: Progress = SILENT
    room: Room | None = None
    """How much disk it may take; as much as is usual unless given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchExposure:
    """Every query of one or two words that returns a member's post among the first k."""

    k: Annotated[int, Ge(1), Le(LARGEST_K)] = 10
    """How many results people look at."""

    scorer: str = "ql-dirichlet"
    """How the search ranks, as scorers print: ql-dirichlet, ql-dirichlet:matching_only=true (Lucene, PISA), bm25..."""

    semantics: Semantics = "or"
    """Whether a post with one of two words is a result (or), or only a post with both (and)."""

    ties: Ties = "newest"
    """Which of two posts with the same score comes first: the newest, the oldest, or by id as text."""

    analyser: str = "words:"
    """What counts as a word, as analysers print: words:stop_words=english,stemmer=english."""

    longest_post: Annotated[int, Ge(1), Le(LONGEST_POST)] = 1000
    """Words of a post that are looked at; longer posts are cut there and counted."""

    def __post_init__(self) -> None:
        check_parameters(self)
        # As they print, so that settings that mean the same compare equal.
        object.__setattr__(self, "scorer", str(parse_scorer(self.scorer)))
        object.__setattr__(self, "analyser", str(Analyser.parse(self.analyser)))

    def guarantee(self, facts: PublicFacts) -> NoGuarantee:  # noqa: ARG002
        """None: it finds what is exposed, and hides nothing."""
        return NoGuarantee("it tells which queries return a member's posts, and hides nothing")

    def run(self, data: CommunityPosts, noise: Noise) -> Facts:  # noqa: ARG002
        """Compute all exposure sets; nothing in it is random."""
        from aidos.rooms.exposure.queries.compute import compute
        from aidos.rooms.exposure.queries.estimate import USUAL_ROOM

        return compute(
            data.table,
            self,
            data.target,
            memory=data.memory,
            threads=data.threads,
            progress=data.progress,
            room=data.room or USUAL_ROOM,
        )

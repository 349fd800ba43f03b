"""What is asked of a community's search: how it ranks, how deep people look, how ties fall, what counts as a match.

Search exposure is reverse search: for every post, the queries that return it among the first k. Queries are all single
words and all pairs of words that some post holds together. The settings say how the search behaves; they are kept
beside every result, and results of other settings are never mixed.

Nothing is promised about the real search engine beyond this model of it, and what is found is the truth about people:
a finding, never a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.jobs.job import Named, Short

__all__ = ["LARGEST", "LARGEST_CHANGE", "MEMORY", "SearchExposure", "Semantics", "Ties"]

Semantics = Literal["or", "and"]
Ties = Literal["newest", "oldest", "id"]
LARGEST_K = 100
LONGEST_POST = 1_000_000
"""For every length a number is kept."""
MEMORY = "2GB"
"""What computing may take for the index, unless said otherwise."""
LARGEST = "20GB"
"""What a computation may write, unless said otherwise."""
LARGEST_CHANGE = "2GB"
"""What a change may write, likewise; it is in memory before, and takes there twice as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchExposure:
    """How a search behaves, of which every query of one or two words is asked that returns a post among the first k."""

    k: Annotated[int, Ge(1), Le(LARGEST_K), Named("--results"), Short("-k")] = 10
    """How many results people look at."""

    scorer: str = "ql-dirichlet"
    """How results are scored: ql-dirichlet, ql-dirichlet:matching_only=true (Lucene, PISA), ql-jm or bm25."""

    semantics: Semantics = "or"
    """Whether one of two words is enough (or), or both are needed (and)."""

    ties: Ties = "newest"
    """Which of two posts with the same score comes first: newest, oldest, or by id as text."""

    analyser: str = "words"
    """What counts as a word, for example words:stop_words=english,stemmer=english."""

    longest_post: Annotated[int, Ge(1), Le(LONGEST_POST)] = 1000
    """Words of a post that are looked at; longer ones are cut and counted."""

    def __post_init__(self) -> None:
        from aidos.model.retrieval.scorers import parse_scorer
        from aidos.model.text.analyser import Analyser

        check_parameters(self)
        # As they print, so that settings that mean the same compare equal.
        object.__setattr__(self, "scorer", str(parse_scorer(self.scorer)))
        object.__setattr__(self, "analyser", str(Analyser.parse(self.analyser)))

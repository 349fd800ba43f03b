"""Personalised re-ranking: documents that speak like a person's history, or an account's, move up.

After the thesis on privacy through solidarity (chapter 7), the fit of a document to a history u is

    fit(d,u) = sum over w in d of  ln( (tf(w,u) + mu P(w|U)) / (|u| + mu) )

where P(w|U) is the language of all histories together, mu their mean length if not said otherwise, and a word that
stands several times in the document counts several times. The hits of a query are put in the order of

    gamma score(q,d) + (1 - gamma) fit(d,u),        gamma = 0.1

The sum grows with the length of the document: every word costs about eight, so that a sum over fifty words differs
between two documents by hundreds, for their lengths alone, and neither the query nor the person is heard. Therefore

    mean        fit divided by the words of the document that were counted; the default
    standard    as mean, then score and fit each with mean 0 and deviation 1 over the hits of the query
    sum         as written above

Words that stand in no history at all would make the logarithm infinite; they say nothing about anybody and are passed
over. A document of such words alone counts as the average of the others (in ``sum``: as 0). It re-orders what a query
found and never adds a document. It promises nothing about privacy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

import annotated_types as at
import numpy as np

from aidos.core.checks import check_parameters
from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.kernels.matching import MEAN, STANDARD, SUM, combine, fit_histories
from aidos.model.retrieval.search import HitLists, Hits, segment_bounds
from aidos.model.retrieval.threads import Work, in_chunks, read_only

if TYPE_CHECKING:
    from aidos.model.retrieval.search import Floats, Longs

__all__ = ["Background", "Histories", "LanguageModel", "Personalisation", "personalise", "personalise_batch"]

CHUNK = 512
"""Queries that a thread takes at a time."""
NORMALISATIONS = {"sum": SUM, "mean": MEAN, "standard": STANDARD}


@dataclass(frozen=True, slots=True, kw_only=True)
class Personalisation:
    """How score and fit go together."""

    query_weight: Annotated[float, at.Ge(0), at.Le(1)] = 0.1
    """Weight of the score of the query (gamma); the rest is the weight of the fit to the history."""
    normalisation: Literal["mean", "standard", "sum"] = "mean"
    """What is done about the length of documents."""
    smoothing: Annotated[float, at.Gt(0)] | None = None
    """Words that the language of all histories adds to one (mu); the mean length of a history if unset."""

    def __post_init__(self) -> None:
        check_parameters(self)


USUAL = Personalisation()
"""How it is done if nothing is said."""


class LanguageModel:
    """How often each term of an index stands in one history; grows and shrinks with it."""

    __slots__ = ("_counts", "total")

    def __init__(self, terms: Iterable[int] = ()) -> None:
        self._counts: Counter[int] = Counter()
        self.total = 0
        """Length of the history in terms."""
        self.add(terms)

    def add(self, terms: Iterable[int]) -> None:
        """Terms that were said, by number, as `read_queries` gives them; repeated ones count."""
        said = Counter(map(int, terms))
        self._counts.update(said)
        self.total += said.total()

    def remove(self, terms: Iterable[int]) -> None:
        """Take back terms that were added."""
        said = Counter(map(int, terms))
        if not said <= self._counts:
            raise InputError("the history does not hold all terms that shall be taken from it")
        self._counts -= said
        self.total -= said.total()

    def __len__(self) -> int:
        return len(self._counts)

    def tally(self) -> Mapping[int, int]:
        """How often each term stands in the history."""
        return MappingProxyType(self._counts)

    def arrays(self) -> tuple[Longs, Longs]:
        """Its terms, rising, and how often each stands there."""
        terms = np.array(sorted(self._counts), dtype=np.int64)
        return terms, np.array([self._counts[term] for term in terms.tolist()], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Background:
    """P(w|U): the language of all histories together."""

    counts: Longs
    """How often each term stands in all of them; terms beyond the end do not."""
    histories: int
    """How many there are."""

    @classmethod
    def of(cls, models: Sequence[LanguageModel]) -> Background:
        """The sum of models."""
        total: Counter[int] = Counter()
        for model in models:
            total.update(model.tally())
        counts = np.zeros(max(total, default=-1) + 1, dtype=np.int64)
        counts[list(total)] = list(total.values())
        return cls(counts=counts, histories=len(models))

    @property
    def mean_length(self) -> float:
        """Terms of the average history."""
        return float(self.counts.sum()) / self.histories if self.histories else 0.0

    def logarithms(self, terms: int) -> Floats:
        """Ln P(w|U) of the first ``terms`` terms, minus infinity where no history holds the term."""
        table = np.full(max(terms, len(self.counts)), -np.inf)
        held = np.flatnonzero(self.counts)
        # On the grid of the scores, so that sums do not depend on the order of words.
        table[held] = np.round(np.ldexp(np.log(self.counts[held] / self.counts.sum()), 40)) * 2.0**-40
        return table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histories:
    """Many language models as arrays: history i stands from ``starts[i]`` to ``starts[i + 1]``."""

    starts: Longs
    terms: Longs
    """Each once a history."""
    counts: Longs
    """How often the term stands in it."""
    background: Background
    """What they are mixed with."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def gather(cls, owners: Longs, terms: Longs, number: int, background: Background | None = None) -> Histories:
        """The histories of ``number`` owners from terms that belong to one each; their own sum is the background."""
        width = int(terms.max(initial=0)) + 1
        keys, counts = np.unique(owners.astype(np.int64) * width + terms, return_counts=True)
        return cls(
            starts=np.searchsorted(keys, np.arange(number + 1, dtype=np.int64) * width).astype(np.int64),
            terms=keys % width,
            counts=counts.astype(np.int64),
            background=background or Background(counts=np.bincount(terms, minlength=width), histories=number),
        )

    @classmethod
    def of(cls, models: Sequence[LanguageModel], background: Background | None = None) -> Histories:
        """The same from models."""
        arrays = [model.arrays() for model in models]
        sizes = [len(terms) for terms, _ in arrays]
        nothing = np.zeros(0, dtype=np.int64)
        terms = np.concatenate([nothing, *(terms for terms, _ in arrays)])
        counts = np.concatenate([nothing, *(counts for _, counts in arrays)])
        return cls(
            starts=np.cumsum([0, *sizes], dtype=np.int64),
            terms=terms,
            counts=counts,
            background=background or Background.of(models),
        )


def personalise(hits: Hits, model: LanguageModel, background: Background, how: Personalisation | None = None) -> Hits:
    """The hits of one query in the order of a history."""
    alone = HitLists(
        source=hits.source,
        places=hits.places[None, :],
        scores=hits.scores[None, :],
        sizes=np.array([len(hits)], dtype=np.int64),
        unknown={0: hits.unknown},
    )
    owner = np.zeros(1, dtype=np.int64)
    return personalise_batch(alone, Histories.of([model], background), owner, how, threads=1)[0]


def personalise_batch(
    lists: HitLists,
    histories: Histories,
    owners: Longs,
    how: Personalisation | None = None,
    threads: int | None = None,
) -> HitLists:
    """The hits of many queries, each in the order of the history whose number ``owners`` gives."""
    how = how or USUAL
    if len(owners) != len(lists) or (len(owners) and not 0 <= owners.min() <= owners.max() < len(histories)):
        raise ParameterError("every query needs the number of one history as its owner")
    into = replace(lists, places=np.empty_like(lists.places), scores=np.empty_like(lists.scores))
    in_chunks(_reranker(lists, histories, owners, how, into), len(lists), CHUNK, threads)
    return into


def _reranker(lists: HitLists, histories: Histories, owners: Longs, how: Personalisation, into: HitLists) -> Work:
    """What a thread has to do: judge the hits of some queries, those of one history after the other."""
    bounds, forwards = segment_bounds(lists.source).tolist(), lists.source.forwards
    order = np.argsort(owners, kind="stable")
    smoothing = how.smoothing or histories.background.mean_length or 1.0
    held = (histories.starts, histories.terms, histories.counts)
    least = max(len(lists.source.vocabulary), int(histories.terms.max(initial=-1)) + 1)
    logarithms = histories.background.logarithms(least)

    def prepare() -> Callable[[int, int], None]:
        table = logarithms.copy()
        fits = np.empty((CHUNK, lists.scores.shape[1]))
        words = np.empty(fits.shape, dtype=np.int32)

        def fill(begin: int, end: int) -> None:
            queries = order[begin:end]
            for forward, first in zip(forwards, bounds, strict=False):
                rows = (read_only(forward.starts), read_only(forward.terms), read_only(forward.frequencies))
                fit_histories(
                    rows, first, queries, owners, held, smoothing, table, lists.places, lists.sizes, fits, words
                )
            found = (lists.scores, lists.places, lists.sizes)
            kind = NORMALISATIONS[how.normalisation]
            combine(queries, *found, fits, words, how.query_weight, kind, into.scores, into.places)

        return fill

    return prepare

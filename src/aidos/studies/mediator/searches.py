"""What mediation does to search results: rankings by a person's own history against rankings by the account's.

The hits of each query are found once. They are put in the order of the person's language, and for each assignment in
that of the account from which the query was issued; both are orders of the same hits. The losses are the share of pairs
that stand the other way round (Kendall) and one minus the Jaccard coefficient of the first hits, averaged by person.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.language import Histories, Personalisation, personalise_batch
from aidos.model.retrieval.search import Queries, search_queries
from aidos.rooms.shield.mediator.assignment import Assignment
from aidos.rooms.shield.mediator.kernels.mixing import compare_orders
from aidos.studies.mediator.derivation import QueryLog

__all__ = ["Searches"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

BLOCK = 16_384
"""Queries searched at a time, between two words of progress."""


class Searches:
    """Queries of a log, some or all of each person's, with their hits and the person's own ranking of them."""

    def __init__(  # noqa: PLR0913 - all but the first two have defaults
        self,
        log: QueryLog,
        index: Index,
        *,
        queries_per_person: int | None = 20,
        hits: int = 100,
        top: int = 20,
        personalisation: Personalisation | None = None,
        seed: int = 0,
        progress: Progress = SILENT,
    ) -> None:
        """Search; a person with fewer queries than ``queries_per_person`` has all of them searched."""
        if queries_per_person is not None and queries_per_person < 1:
            raise ParameterError(f"queries_per_person must be at least 1, got {queries_per_person}")
        self.log = log
        self.top = top
        self.spelled = f"{queries_per_person} {hits} {top} {personalisation} {seed} {len(index)} {index.analyser}"
        """What was searched and how, for telling experiments apart."""
        self._how = personalisation or Personalisation()
        self.chosen = _sampled(log.objects.people, queries_per_person, seed)
        with progress.task("searching", total=len(self.chosen), unit="queries") as task:
            blocks = [self.chosen[start : start + BLOCK] for start in range(0, len(self.chosen), BLOCK)]
            self._hits = []
            for block in blocks:
                self._hits.append(search_queries(index, _some(log.queries, block), size=hits))
                task.advance(len(block))
        self._blocks = blocks
        self._own = self._rankings(log.objects.people, log.objects.people_count, None)

    def __len__(self) -> int:
        return len(self.chosen)

    def losses(self, assignment: Assignment, threads: int | None = None) -> tuple[Floats, Floats]:
        """Kendall and Jaccard loss by person; NaN for people without queries."""
        people = self.log.objects.people
        theirs = self._rankings(assignment.chosen, assignment.accounts, threads)
        found = [
            compare_orders(own, other, lists.sizes, self.top)
            for own, other, lists in zip(self._own, theirs, self._hits, strict=True)
        ]
        losses = np.concatenate([np.zeros((0, 2)), *found])
        owners, number = people[self.chosen], self.log.objects.people_count
        asked = np.bincount(owners, minlength=number)
        sums = [np.bincount(owners, weights=losses[:, column], minlength=number) for column in (0, 1)]
        kendall, jaccard = (np.where(asked > 0, total / np.maximum(asked, 1), np.nan) for total in sums)
        return kendall, jaccard

    def _rankings(self, groups: Longs, number: int, threads: int | None) -> list[NDArray[np.int32]]:
        """The hits of all queries, each in the order of the group that it belongs to."""
        histories = Histories.gather(groups[self.log.owners], self.log.terms, number)
        return [
            personalise_batch(lists, histories, groups[block], self._how, threads).places
            for lists, block in zip(self._hits, self._blocks, strict=True)
        ]


def _sampled(people: Longs, each: int | None, seed: int) -> Longs:
    """Numbers of queries, rising: at most so many of each person, any of them."""
    if each is None:
        return np.arange(len(people))
    order = np.lexsort((np.random.default_rng(seed).random(len(people)), people))
    sorted_people = people[order]
    places = np.arange(len(people)) - np.searchsorted(sorted_people, sorted_people)
    return np.sort(order[places < each])


def _some(queries: Queries, chosen: Longs) -> Queries:
    lengths = np.diff(queries.starts)[chosen]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.arange(starts[-1]) - np.repeat(starts[:-1] - queries.starts[:-1][chosen], lengths)
    return Queries(starts=starts, terms=queries.terms[places], unknown={})

"""How strongly one phrase, or query, calls for another: counts of pairs and log-likelihood ratios.

Two tables are counted from the pairs of consecutive queries: whole queries that followed each other, and phrases that
took each other's place where all else stayed (Jones et al. 2006). In each, a pair is tested for dependence by Dunning's
ratio: 2 ln L(second depends on first) - 2 ln L(it does not), which is near chi-square with one degree of freedom where
it does not. Jones et al. ask for more than 100, since very many pairs are tested; 3.84 would be the usual 5 %.

Where this differs: Götz et al. (2012) describe phrase pairs more widely, as any phrase of a query with any of the next;
here, as with Jones et al., the rest of the query must be the same, with equally many phrases in the same order. Pairs
that follow each other less often than by chance are left out. The ratio takes rows for independent observations, which
people's queries are not, and it knows nothing of noise in the counts: it ranks, it proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aidos.model.substitution.coded import CodedLog, Longs
from aidos.model.substitution.phrases import CodedPhrases

__all__ = ["PairStatistics", "changed_phrases", "log_likelihood_ratio"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairStatistics:
    """Pairs that follow each other more often than by chance, each once, by the first and then the second."""

    first: Longs
    """What was replaced."""
    second: Longs
    """What took its place."""
    times: Longs
    """How often."""
    ratio: Floats
    """Log-likelihood ratio; larger is stronger."""

    @classmethod
    def of(cls, first: Longs, second: Longs, times: Longs) -> PairStatistics:
        """Add up the rows of each pair and test it against all of them."""
        size = 1 + max(int(first.max(initial=-1)), int(second.max(initial=-1)))
        weights = times.astype(np.float64)
        total = float(weights.sum())
        rows, columns = (np.bincount(side, weights=weights, minlength=size) for side in (first, second))
        keys, both = _added_up(first * max(size, 1) + second, weights)
        first, second = np.divmod(keys, max(size, 1))
        attracted = both * total > rows[first] * columns[second]
        first, second, both = first[attracted], second[attracted], both[attracted]
        return cls(
            first=first,
            second=second,
            times=both.astype(np.int64),
            ratio=log_likelihood_ratio(both, rows[first], columns[second], total),
        )

    def at_least(self, ratio: float) -> PairStatistics:
        """The pairs that reach a ratio."""
        kept = self.ratio >= ratio
        return PairStatistics(
            first=self.first[kept], second=self.second[kept], times=self.times[kept], ratio=self.ratio[kept]
        )


def log_likelihood_ratio(both: ArrayLike, first: ArrayLike, second: ArrayLike, total: float) -> Floats:
    """Dunning's ratio of pairs: how often together, each at its place, and how many pairs there are in all."""
    cell, row, column = (np.asarray(counts, dtype=np.float64) for counts in (both, first, second))
    cells = (
        (cell, row, column),
        (row - cell, row, total - column),
        (column - cell, total - row, column),
        (total - row - column + cell, total - row, total - column),
    )
    parts = [seen * np.log(np.where(seen > 0, seen * total, 1) / np.where(seen > 0, r * c, 1)) for seen, r, c in cells]
    found: Floats = np.maximum(2 * np.sum(parts, axis=0), 0.0)
    return found


def changed_phrases(log: CodedLog, phrases: CodedPhrases) -> tuple[Longs, Longs, Longs]:
    """Of the pairs of queries that differ in one phrase: that phrase, the one in its place, and how often."""
    begin, sizes = phrases.starts[:-1], np.diff(phrases.starts)
    rows = np.flatnonzero(sizes[log.left] == sizes[log.right])
    left, right, size = begin[log.left[rows]], begin[log.right[rows]], sizes[log.left[rows]]
    changes = np.zeros(len(rows), dtype=np.int64)
    changed = np.zeros(len(rows), dtype=np.int64)
    still = np.arange(len(rows))
    for place in range(int(size.max(initial=0))):
        # Rows drop out when they end or when a second phrase differs, so that long queries cost little.
        still = still[(size[still] > place) & (changes[still] < 2)]
        differs = still[phrases.numbers[left[still] + place] != phrases.numbers[right[still] + place]]
        changes[differs] += 1
        changed[differs] = place
    one = np.flatnonzero(changes == 1)
    here = phrases.numbers[left[one] + changed[one]]
    there = phrases.numbers[right[one] + changed[one]]
    return here, there, log.times[rows[one]]


def _added_up(keys: Longs, weights: Floats) -> tuple[Longs, Floats]:
    """Distinct keys in order, and the sum of the weights of each."""
    order = np.argsort(keys)
    keys, weights = keys[order], weights[order]
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.zeros(0, np.int64)
    return keys[begins], np.add.reduceat(weights, begins) if len(keys) else weights

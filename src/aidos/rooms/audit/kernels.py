"""Compiled loops of the audit: Plackett-Luce stages of many lists at once, and products with sparse topic maps.

All lists lie one behind the other; those of query q are the places ``starts[q] : starts[q + 1]``. The loops run in one
thread and always in the same order, so that the same input gives the same digits.
"""

from __future__ import annotations

from math import lgamma

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.numerics import njit

__all__ = [
    "add_rows",
    "count_apart",
    "dot_rows",
    "draw_orders",
    "share_out",
    "stages",
    "sum_lists",
    "sum_log_gamma",
    "topic_shifts",
]

Floats = NDArray[np.float64]
Shares = NDArray[np.float32]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

WIDEST = 600.0
"""Utilities of one list that lie further apart than this are summed in logarithms: exp(-745) is zero."""
ALIKE = 1e-9
"""Sums of squares below this are rounding."""
ANY_ORDER = {"reassoc", "contract", "nsz"}
"""Sums may be taken many at a time; the order is the same whenever the numbers are."""


@njit(cache=True, nogil=True)
def stages(starts: Longs, firm: Floats, soft: Floats, values: Floats, pulls: Floats) -> None:
    """For each list sum_i (firm_i - ln sum_{j>=i} exp soft_j), and sum_{i<=j} exp(soft_j) / sum_{k>=i} exp(soft_k).

    The first goes into ``values``, the second, -d value / d soft_j, into ``pulls``: a suffix and a prefix scan.
    """
    for query in range(len(starts) - 1):
        start, stop = starts[query], starts[query + 1]
        value = 0.0
        if start < stop:
            low = high = soft[start]
            for place in range(start, stop):
                value += firm[place]
                low = min(low, soft[place])
                high = max(high, soft[place])
            if high - low < WIDEST:
                value -= near_stages(start, stop, soft, high, pulls)
            else:
                value -= wide_stages(start, stop, soft, pulls)
        values[query] = value


@njit(cache=True, nogil=True)
def near_stages(start: int, stop: int, soft: Floats, high: float, pulls: Floats) -> float:
    """One list, with one exponential and one logarithm a place."""
    total, logarithms = 0.0, 0.0
    inverses = np.empty(stop - start)
    for place in range(stop - 1, start - 1, -1):
        pulls[place] = np.exp(soft[place] - high)
        total += pulls[place]
        logarithms += np.log(total) + high
        inverses[place - start] = 1 / total
    before = 0.0
    for place in range(start, stop):
        before += inverses[place - start]
        pulls[place] *= before
    return logarithms


@njit(cache=True, nogil=True)
def wide_stages(start: int, stop: int, soft: Floats, pulls: Floats) -> float:
    """One list, in logarithms throughout."""
    total, logarithms = -np.inf, 0.0
    for place in range(stop - 1, start - 1, -1):
        total = np.logaddexp(total, soft[place])
        pulls[place] = total
        logarithms += total
    before = -np.inf
    for place in range(start, stop):
        before = np.logaddexp(before, -pulls[place])
        pulls[place] = np.exp(soft[place] + before)
    return logarithms


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def dot_rows(starts: Longs, topics: Ints, shares: Shares, weights: Floats, found: Floats) -> None:
    """The product of every row of a sparse matrix with a vector."""
    for row in range(len(starts) - 1):
        total = 0.0
        for at in range(starts[row], starts[row + 1]):
            total += shares[at] * weights[topics[at]]
        found[row] = total


@njit(cache=True, nogil=True)
def add_rows(starts: Longs, topics: Ints, shares: Shares, factors: Floats, found: Floats) -> None:
    """The rows of a sparse matrix, each times its factor, added up."""
    found[:] = 0
    for row in range(len(starts) - 1):
        factor = factors[row]
        if factor != 0:
            for at in range(starts[row], starts[row + 1]):
                found[topics[at]] += shares[at] * factor


@njit(cache=True, nogil=True)
def sum_lists(starts: Longs, numbers: Floats, found: Floats) -> None:
    """The sum of the numbers of each list."""
    for query in range(len(starts) - 1):
        total = 0.0
        for place in range(starts[query], starts[query + 1]):
            total += numbers[place]
        found[query] = total


@njit(cache=True, nogil=True)
def topic_shifts(
    starts: Longs, items: Longs, moves: Floats, map_starts: Longs, topics: Ints, shares: Shares, found: Floats
) -> None:
    """For each list the topic maps of its items, each times how far the item moved, added up."""
    found[:] = 0
    for query in range(len(starts) - 1):
        for place in range(starts[query], starts[query + 1]):
            item, move = items[place], moves[place]
            if move != 0:
                for at in range(map_starts[item], map_starts[item + 1]):
                    found[query, topics[at]] += shares[at] * move


@njit(cache=True, nogil=True)
def draw_orders(starts: Longs, noisy: Floats, found: Longs) -> None:
    """Places of each list in falling order of utility plus Gumbel noise: a draw from Plackett-Luce."""
    for query in range(len(starts) - 1):
        start, stop = starts[query], starts[query + 1]
        found[start:stop] = start + np.argsort(-noisy[start:stop], kind="mergesort")


@njit(cache=True, nogil=True)
def count_apart(starts: Longs, items: Longs, map_starts: Longs, topics: Ints, shares: Floats, found: Longs) -> None:
    """For every topic, the number of lists whose items differ in it; each topic stands in a map at most once."""
    sums, squares = np.zeros(len(found)), np.zeros(len(found))
    for query in range(len(starts) - 1):
        start, stop = starts[query], starts[query + 1]
        for place in range(start, stop):
            for at in range(map_starts[items[place]], map_starts[items[place] + 1]):
                sums[topics[at]] += shares[at]
                squares[topics[at]] += shares[at] ** 2
        for place in range(start, stop):
            for at in range(map_starts[items[place]], map_starts[items[place] + 1]):
                topic = topics[at]
                if squares[topic] - sums[topic] ** 2 / (stop - start) > ALIKE:
                    found[topic] += 1
                # Zero from here on: a topic counts once in a list.
                sums[topic] = squares[topic] = 0.0


@njit(cache=True, nogil=True)
def sum_log_gamma(numbers: Floats) -> float:
    """The sum of ln Gamma."""
    total = 0.0
    for number in numbers:
        total += lgamma(number)
    return total


@njit(cache=True, nogil=True)
def share_out(
    starts: Longs, words: Ints, maps: Floats, logs: Floats, item_counts: Floats, word_counts: Floats
) -> float:
    """Share every word out by exp(mu_dk + E[ln beta_kw]), add to the counts, and return the sum of ln of the sums."""
    total = 0.0
    topics = maps.shape[1]
    parts = np.empty(topics)
    for item in range(len(starts) - 1):
        for place in range(starts[item], starts[item + 1]):
            word = words[place]
            highest = -np.inf
            for topic in range(topics):
                parts[topic] = maps[item, topic] + logs[word, topic]
                highest = max(highest, parts[topic])
            whole = 0.0
            for topic in range(topics):
                parts[topic] = np.exp(parts[topic] - highest)
                whole += parts[topic]
            total += highest + np.log(whole)
            for topic in range(topics):
                part = parts[topic] / whole
                item_counts[item, topic] += part
                word_counts[word, topic] += part
    return total

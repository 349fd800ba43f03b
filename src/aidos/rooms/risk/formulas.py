"""The formulas of the risk measures, from what is remembered of people to numbers: arrays in, arrays out.

They are those of the thesis (section 6.3). Rows are people, columns topics that were asked for. People of whom the same
is remembered get the same number to the last digit, so that ties are ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.risk.spaces import Layout

__all__ = [
    "breadth_of_interest",
    "changed_odds",
    "entropy_risk",
    "privacy_loss_risk",
    "recurring_interest",
    "relative_entropy",
    "strength_of_interest",
]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
ROUNDING = 1e-9
"""0.3 of 10 topics are 3, also where the product of two floats is a little more."""


def strength_of_interest(best: NDArray[np.float32], layout: Layout) -> Floats:
    """The similarity of the entry nearest to each topic."""
    return best[:, layout.asked].astype(np.float64)


def breadth_of_interest(best: NDArray[np.float32], layout: Layout, share: float) -> Floats:
    """How near somebody comes to that share of a topic's domain: the ceil(k |D|)-th largest over the other topics.

    |D| counts the topic itself. Where fewer others are left, it is the least of them; a topic that is alone in its
    domain has no others, and nobody is broad there: 0.
    """
    found = np.zeros((len(best), len(layout.asked)))
    for column, others in enumerate(layout.domains):
        if len(others):
            place = min(max(ceil(share * (len(others) + 1) - ROUNDING), 1), len(others))
            found[:, column] = np.partition(best[:, others], len(others) - place, axis=1)[:, len(others) - place]
    return found


def recurring_interest(highest: NDArray[np.float32], buckets: int) -> Floats:
    """The mean of the highest buckets; those that are missing or empty count 0, as the thesis asks for m of them."""
    kept = np.sort(highest, axis=2)[:, :, highest.shape[2] - buckets :]
    total = np.zeros(highest.shape[:2])
    for place in range(buckets):
        total += kept[:, :, place]
    return total / buckets


def entropy_risk(
    has: NDArray[np.float32], counts: Floats, people: int, topic_columns: Sequence[Longs], smoothing: float
) -> Floats:
    """The mean over a topic's words of the relative entropy that each adds which somebody has.

    ``counts`` says for each word how many have it where she does, she among them.
    """
    parts = relative_entropy(counts, people, smoothing)
    found = np.zeros((len(has), len(topic_columns)))
    for topic, columns in enumerate(topic_columns):
        for column in columns.tolist():
            found[:, topic] += has[:, column] * parts[column]
        found[:, topic] /= len(columns)
    return found


def privacy_loss_risk(
    has: NDArray[np.float32], counts: Floats, people: int, topic_columns: Sequence[Longs], smoothing: float
) -> Floats:
    """The most that somebody's presence changes the probability of any word of a topic, in powers of 2."""
    having, lacking = changed_odds(counts, people, smoothing)
    found = np.zeros((len(has), len(topic_columns)))
    for topic, columns in enumerate(topic_columns):
        for column in columns.tolist():
            np.maximum(found[:, topic], np.where(has[:, column] > 0, having[column], lacking), out=found[:, topic])
    return found


def relative_entropy(counts: Floats, people: int, smoothing: float) -> Floats:
    """KL(P_U || P_U') in bits of "has the word", for one who has it: with her ``counts`` of ``people`` do.

    P_U = (c + s) / (n + 2s) and P_U' = (c - 1 + s) / (n - 1 + 2s). The probabilities of not having it are as
    n - 1 + 2s to n + 2s, whatever the word; so written, nothing is lost where both distributions are almost the same.
    """
    total = people + 2 * smoothing
    held = np.maximum(counts, 1.0)
    present = (held + smoothing) / total
    absent = (people - held + smoothing) / total
    before = (held - 1 + smoothing) / (total - 1)
    parts = present * np.log1p(absent / ((total - 1) * before)) + absent * np.log1p(-1 / total)
    bits: Floats = np.maximum(parts, 0.0) / np.log(2)
    return bits


def changed_odds(counts: Floats, people: int, smoothing: float) -> tuple[Floats, float]:
    """The size of log2(P_U / P_U') of each word for one who has it, and for one who has it not (alike for all)."""
    total = people + 2 * smoothing
    held = np.maximum(counts, 1.0)
    absent, before = (people - held + smoothing) / total, (held - 1 + smoothing) / (total - 1)
    having = np.abs(np.log1p(absent / ((total - 1) * before))) / np.log(2)
    return having, float(-np.log1p(-1 / total) / np.log(2))

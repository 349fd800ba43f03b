"""How well an assignment hides people, and what it costs them: one number per person, plain functions on arrays.

Privacy by the model is the entropy of a person over accounts and the largest share of her in one account; privacy in
fact is the smallest divergence between her topics and those of an account. The cost by the model is coherence lost.

Smoothing. The thesis speaks of smoothing the shares of a person over accounts. Its table has entropy 0 for people who
are whole in one account, which no smoothing over 975 accounts leaves at 0, so none is used here unless asked for. Topic
distributions are smoothed by adding one to each topic, on both sides of the divergence.

People are numbered from 0; whoever has no objects has NaN. Natural logarithms throughout. None of the measures bounds
what an observer with other knowledge can learn.

Coherence is how well objects fit among others: the mean similarity of an object with the rest of its profile or
account. Coherence of o in S is sum of sim(o, o') over o' in S other than o, divided by |S| - 1; an object alone has
coherence 0. All objects are done at once, by counting instead of comparing pairs; only weighted Jaccard compares the
different topic vectors of each group with each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.assignment import Assignment
from aidos.rooms.shield.mediator.kernels.mixing import Rows, summed_jaccard
from aidos.rooms.shield.mediator.objects import MOST_NUMBER, Objects, TopicVectors

__all__ = [
    "Measured",
    "Similarity",
    "coherence_losses",
    "coherences",
    "divergences",
    "entropies",
    "largest_overlaps",
    "least_divergences",
    "measure",
    "profile_diversities",
    "smoothed_topics",
    "topic_counts",
]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

AT_ONCE = 2**24
"""Divergences held in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """All measures that need no search engine, by person."""

    objects: Longs
    """How many objects she has."""
    diversity: Floats
    """Entropy of her own topics."""
    entropy: Floats
    overlap: Floats
    coherence_loss: Floats
    least_divergence: Floats


def measure(objects: Objects, assignment: Assignment, similarity: Similarity = "same-topic") -> Measured:
    """Measure an assignment."""
    return Measured(
        objects=np.bincount(objects.people, minlength=objects.people_count),
        diversity=profile_diversities(objects),
        entropy=entropies(objects, assignment),
        overlap=largest_overlaps(objects, assignment),
        coherence_loss=coherence_losses(objects, assignment, similarity),
        least_divergence=least_divergences(objects, assignment)[0],
    )


def entropies(objects: Objects, assignment: Assignment, smoothing: float = 0.0) -> Floats:
    """Entropy of each person over accounts: -sum phi ln phi, phi = (x + smoothing) / (objects + smoothing |M|)."""
    if not (np.isfinite(smoothing) and smoothing >= 0):
        raise ParameterError(f"smoothing must be finite and at least 0, got {smoothing!r}")
    people, counts = _cells(objects, assignment)
    return _entropy(people, counts, objects.people_count, assignment.accounts, smoothing)


def profile_diversities(objects: Objects) -> Floats:
    """Entropy of each person's own topics, before any assignment."""
    counts = topic_counts(objects.people, objects, objects.people_count)
    people, topics = np.nonzero(counts)
    return _entropy(people, counts[people, topics], objects.people_count, counts.shape[1], 0.0)


def _entropy(people: Longs, counts: NDArray[np.generic], number: int, places: int, smoothing: float) -> Floats:
    held = np.asarray(counts, dtype=np.float64)
    totals = np.bincount(people, weights=held, minlength=number)
    shares = (held + smoothing) / (totals + smoothing * places)[people]
    found = np.bincount(people, weights=-shares * np.log(shares), minlength=number)
    if smoothing > 0:
        unheld = smoothing / (totals + smoothing * places)
        found -= (places - np.bincount(people, minlength=number)) * unheld * np.log(unheld)
    return np.where(totals > 0, np.maximum(found, 0.0), np.nan)


def largest_overlaps(objects: Objects, assignment: Assignment) -> Floats:
    """The largest share of each person's objects that is in one account."""
    people, counts = _cells(objects, assignment)
    largest = np.zeros(objects.people_count)
    np.maximum.at(largest, people, counts)
    totals = np.bincount(objects.people, minlength=objects.people_count)
    return np.where(totals > 0, largest / np.maximum(totals, 1), np.nan)


def coherence_losses(objects: Objects, assignment: Assignment, similarity: Similarity = "same-topic") -> Floats:
    """Mean over a person's objects of coherence in her own profile minus that in the account; may be below 0."""
    _check(objects, assignment)
    lost = coherences(objects, objects.people, similarity) - coherences(objects, assignment.chosen, similarity)
    totals = np.bincount(objects.people, minlength=objects.people_count)
    summed = np.bincount(objects.people, weights=lost, minlength=objects.people_count)
    return np.where(totals > 0, summed / np.maximum(totals, 1), np.nan)


def least_divergences(objects: Objects, assignment: Assignment) -> tuple[Floats, Longs]:
    """The smallest KL(person || account) of each person over all accounts, and the first account that has it."""
    _check(objects, assignment)
    topics = _topics(objects)
    people = topic_counts(objects.people, objects, objects.people_count, topics)
    accounts = topic_counts(assignment.chosen, objects, assignment.accounts, topics)
    least, nearest = np.empty(len(people)), np.empty(len(people), dtype=np.int64)
    step = max(1, AT_ONCE // assignment.accounts)
    for start in range(0, len(people), step):
        found = divergences(people[start : start + step], accounts)
        nearest[start : start + step] = found.argmin(axis=1)
        least[start : start + step] = found.min(axis=1)
    empty = people.sum(axis=1) == 0
    return np.where(empty, np.nan, least), nearest


def divergences(people: Floats, accounts: Floats) -> Floats:
    """KL(P || Q) of each person's topics from each account's, both given as counts and smoothed by adding one."""
    mine, theirs = smoothed_topics(people), smoothed_topics(accounts)
    own = (mine * np.log(mine)).sum(axis=1)
    found: Floats = np.maximum(own[:, None] - mine @ np.log(theirs).T, 0.0)
    return found


def smoothed_topics(counts: Floats) -> Floats:
    """Distributions over topics, one added to each count."""
    smoothed: Floats = (counts + 1.0) / (counts.sum(axis=1, keepdims=True) + counts.shape[1])
    return smoothed


def topic_counts(groups: Longs, objects: Objects, number: int, topics: int | None = None) -> Floats:
    """Groups by topics: how many objects; an object with a topic vector counts as 1 in all, shared by weight."""
    width = _topics(objects) if topics is None else topics
    if isinstance(objects.topics, TopicVectors):
        rows = objects.topics.rows()
        owners = np.repeat(np.arange(len(objects)), np.diff(rows.starts))
        totals = np.bincount(owners, weights=rows.weights, minlength=len(objects))
        cells, weights = groups[owners] * width + rows.topics, rows.weights / totals[owners]
    else:
        cells, weights = groups * width + objects.topics, np.ones(len(objects))
    return np.bincount(cells, weights=weights, minlength=number * width).reshape(number, width).astype(np.float64)


def _topics(objects: Objects) -> int:
    held = objects.topics.topics if isinstance(objects.topics, TopicVectors) else objects.topics
    return int(held.max(initial=0)) + 1


def _cells(objects: Objects, assignment: Assignment) -> tuple[Longs, Longs]:
    """Person, and number of objects, of every person in every account where she has any."""
    _check(objects, assignment)
    cells, counts = np.unique(objects.people * assignment.accounts + assignment.chosen, return_counts=True)
    return cells // assignment.accounts, counts


def _check(objects: Objects, assignment: Assignment) -> None:
    if len(objects) != len(assignment.chosen):
        raise InputError(
            f"{len(objects)} objects but {len(assignment.chosen)} accounts",
            hint="measure the objects that were assigned",
        )
    if len(objects) and not (assignment.chosen.min() >= 0 and assignment.chosen.max() < assignment.accounts):
        raise InputError(f"an object is in an account that is none of the {assignment.accounts}")


Similarity = Literal["same-topic", "cosine", "jaccard"]


def coherences(objects: Objects, groups: Longs, similarity: Similarity) -> Floats:
    """The coherence of each object among the objects of its group: its person's, or its account's."""
    if len(groups) != len(objects):
        raise InputError(f"{len(objects)} objects but {len(groups)} groups", hint="give one group per object")
    sizes = np.bincount(groups)[groups] if len(groups) else np.zeros(0, dtype=np.int64)
    match similarity:
        case "same-topic":
            others = _same_topic(objects, groups)
        case "cosine":
            others = _cosine(objects.vectors, groups)
        case "jaccard":
            others = _jaccard(objects.vectors, groups)
    return np.where(sizes > 1, others / np.maximum(sizes - 1, 1), 0.0)


def _same_topic(objects: Objects, groups: Longs) -> Floats:
    _, chunks = np.unique(objects.people * (MOST_NUMBER + 1) + objects.labels, return_inverse=True)
    _, cells, counts = np.unique(chunks * (groups.max(initial=0) + 1) + groups, return_inverse=True, return_counts=True)
    return (counts[cells] - 1).astype(np.float64)


def _cosine(vectors: TopicVectors, groups: Longs) -> Floats:
    rows = vectors.unit_rows()
    owners = np.repeat(np.arange(len(vectors)), np.diff(rows.starts))
    topics = rows.topics.max(initial=0) + 1
    _, cells = np.unique(groups[owners] * topics + rows.topics, return_inverse=True)
    sums = np.bincount(cells, weights=rows.weights)
    products = rows.weights * (sums[cells] - rows.weights) if len(cells) else rows.weights
    return np.bincount(owners, weights=products, minlength=len(vectors)).astype(np.float64)


def _jaccard(vectors: TopicVectors, groups: Longs) -> Floats:
    kinds, rows = _kinds(vectors)
    number = len(rows.starts) - 1
    pairs, cells, counts = np.unique(groups * max(number, 1) + kinds, return_inverse=True, return_counts=True)
    held, which = np.divmod(pairs, max(number, 1))
    starts = np.searchsorted(held, np.arange(groups.max(initial=-1) + 2))
    sums = summed_jaccard(rows, starts, which, counts)
    empty = np.diff(vectors.starts) == 0
    return sums[cells] - np.where(empty, 0.0, 1.0)


def _kinds(vectors: TopicVectors) -> tuple[Longs, Rows]:
    """The number of each object's vector among the different ones, and those."""
    rows = vectors.rows()
    numbers: dict[bytes, int] = {}
    kinds = np.empty(len(vectors), dtype=np.int64)
    first: list[int] = []
    for number in range(len(vectors)):
        span = slice(rows.starts[number], rows.starts[number + 1])
        kinds[number] = numbers.setdefault(rows.topics[span].tobytes() + rows.weights[span].tobytes(), len(numbers))
        if kinds[number] == len(first):
            first.append(number)
    return kinds, vectors.taken(np.array(first, dtype=np.int64)).rows()

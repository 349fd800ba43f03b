"""Weak supervision: what a ranker is taught from, where nobody was asked (thesis, sections 5.4.3 and 5.6).

    user score        1 where the post was deleted later, 0 where it was not; unknown posts have none (NaN)
    community score   (P_anon(q) - P_open(q)) / (P_anon(q) + P_open(q)), from the words of an anonymous and of an open
                      community: from -1, said only under one's name, to 1, said only without it
    sensitivity       of the topics that the words of the query point to: the alternative for who has neither

and linear combinations of them. The probability of a query is the product over its words, as a language model has it,
so that the score of two words is tanh((r(a) + r(b)) / 2) with r(w) = ln(P_anon(w) / P_open(w)).

Word counts are smoothed by adding the same probability to both communities, that of ``pseudo_count`` occurrences in the
smaller of them. A word that neither knows then scores 0, and one seen once or twice hardly leaves 0; adding one to
every count instead would call every unseen word anonymous whenever the anonymous community is the smaller.

Deletions come from the operator. There is no public data set of them, so nothing here claims that they carry the signal
that they carried in the thesis. People delete posts for many reasons, and such targets are noisy by design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Texts, Vocabulary
from aidos.rooms.exposure.critical.community import Community
from aidos.rooms.exposure.critical.features import WordSensitivity
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures

__all__ = [
    "PSEUDO_COUNT",
    "combine",
    "community_scores",
    "count_words",
    "log_ratios",
    "sensitivity_scores",
    "user_scores",
]

Floats = NDArray[np.float64]

PSEUDO_COUNT = 1.0
"""Occurrences in the smaller community that are added to both."""


def user_scores(store: Community, exposures: Exposures, deletions: Mapping[str, bool]) -> Floats:
    """Of each row, from post ids and whether the post was deleted; NaN for posts that are not listed."""
    posts, rows = np.unique(exposures.posts, return_inverse=True)
    ids = map(str, store.posts(posts).column("post_id").to_pylist()) if len(posts) else ()
    marks = {True: 1.0, False: 0.0, None: np.nan}
    known = np.array([marks[deletions.get(each)] for each in ids], dtype=np.float64)
    scores: Floats = known[rows]
    return scores


def count_words(texts: Texts, analyser: Analyser) -> dict[str, int]:
    """How often each term stands in the texts of a community; the analyser must be that of the search."""
    vocabulary = Vocabulary()
    found = analyse(texts, vocabulary, analyser=analyser)
    counts = np.bincount(found.terms, minlength=len(vocabulary))
    return dict(zip(vocabulary.terms(np.arange(len(vocabulary))), counts.tolist(), strict=True))


def log_ratios(
    words: Sequence[str],
    anonymous_counts: Mapping[str, int],
    open_counts: Mapping[str, int],
    *,
    pseudo_count: float = PSEUDO_COUNT,
) -> Floats:
    """r(w) = ln(P_anon(w) / P_open(w)) of words, smoothed; 0 for words that neither community knows."""
    totals = [sum(anonymous_counts.values()), sum(open_counts.values())]
    if not pseudo_count > 0:
        raise ParameterError(f"pseudo_count must be greater than 0, got {pseudo_count}")
    if not min(totals):
        raise InputError(
            "a community without words says nothing about how people talk in it",
            hint="give posts of the anonymous and of the open community",
        )
    added = pseudo_count / min(totals)
    logs = [
        np.log(np.array([counts.get(word, 0) for word in words], dtype=np.float64) / total + added)
        for counts, total in zip((anonymous_counts, open_counts), totals, strict=True)
    ]
    ratios: Floats = logs[0] - logs[1]
    return ratios


def community_scores(
    store: Community,
    exposures: Exposures,
    anonymous_counts: Mapping[str, int],
    open_counts: Mapping[str, int],
    *,
    pseudo_count: float = PSEUDO_COUNT,
) -> Floats:
    """Of the query of each row, from word counts of the two communities (see `count_words`)."""
    words, first, second = _words(store, exposures)
    ratios = np.append(log_ratios(words, anonymous_counts, open_counts, pseudo_count=pseudo_count), 0.0)
    scores: Floats = np.tanh((ratios[first] + ratios[second]) / 2)
    return scores


def sensitivity_scores(store: Community, exposures: Exposures, sensitivity: WordSensitivity) -> Floats:
    """Topical sensitivity of the query of each row: the sum of that of its words."""
    words, first, second = _words(store, exposures)
    values = np.append(sensitivity.words(words), 0.0)
    scores: Floats = values[first] + values[second]
    return scores


def combine(*parts: tuple[float, Floats]) -> Floats:
    """The sum of weighted scores; NaN wherever one of them is, since what is unknown cannot be taught."""
    if not parts:
        raise ParameterError("no scores are given", hint="give pairs of a weight and scores")
    if len({len(scores) for _, scores in parts}) > 1:
        raise ParameterError("the scores are of different lengths", hint="give one score a row in each")
    if not all(np.isfinite(weight) for weight, _ in parts):
        raise ParameterError("the weights of scores must be finite")
    total: Floats = np.sum([weight * scores for weight, scores in parts], axis=0)
    return total


def _words(store: Community, exposures: Exposures) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The words of the queries, each once, and where the two of each row stand; behind them where there is none."""
    numbers = np.unique(np.concatenate([exposures.first, exposures.second]))
    numbers = numbers[numbers != NO_WORD]
    places = [
        np.where(column == NO_WORD, len(numbers), np.searchsorted(numbers, column))
        for column in (exposures.first, exposures.second)
    ]
    return store.words(numbers), places[0], places[1]

"""Coherence of latent topics: whether their words stand together in texts.

For the telling words of a topic, the mean over pairs of normalised pointwise mutual information (Bouma 2009; as a
measure of topics Aletras and Stevenson 2013): ln(P(a, b) / P(a) P(b)) / -ln P(a, b), with the shares of texts that
have the words. It is 1 where two words only stand together, 0 where they are independent, -1 where they never meet.
People find topics of high coherence easier to name; it does not say whether a topic is sensitive, or useful.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, MissingExtraError
from aidos.model.latent.model import TopicModel

__all__ = ["PAIRED", "coherence"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
PAIRED = 10
"""Words of a topic that are paired."""


def coherence(model: TopicModel, starts: Longs, words: Ints, *, number: int = PAIRED) -> Floats:
    """The coherence of every topic on texts, each by its words in the model's numbers (below 0 is not known).

    Words that no text has are left out; not a number for topics that have no two words left.
    """
    texts = len(starts) - 1
    if texts < 1:
        raise InputError("coherence needs at least one text")
    telling = [model.numbers([found.word for found in model.salient(topic, number)]) for topic in range(len(model))]
    asked = np.unique(np.concatenate(telling))
    together = _together(starts, words, asked, len(model.words))
    alone = together.diagonal()
    found = np.full(len(model), np.nan)
    for topic, own in enumerate(telling):
        places = np.searchsorted(asked, own)
        places = places[alone[places] > 0]
        if len(places) > 1:
            found[topic] = _mean_information(together[np.ix_(places, places)], alone[places], texts)
    return found


def _together(starts: Longs, words: Ints, asked: Ints, vocabulary: int) -> Floats:
    """In how many texts each two of the asked words are; on the diagonal, in how many each is."""
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise MissingExtraError("the coherence of topics", extra="risk") from error
    columns = np.full(vocabulary + 1, -1, dtype=np.int64)
    columns[asked] = np.arange(len(asked))
    here = words[starts[0] : starts[-1]]
    wanted = columns[np.where(here < 0, vocabulary, here)]
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    pairs = np.unique(rows[wanted >= 0] * len(asked) + wanted[wanted >= 0])
    ones = np.ones(len(pairs), dtype=np.float64)
    held = csr_array((ones, (pairs // len(asked), pairs % len(asked))), shape=(len(starts) - 1, len(asked)))
    counts: Floats = (held.T @ held).toarray()
    return counts


def _mean_information(together: Floats, alone: Floats, texts: int) -> float:
    first, second = np.triu_indices(len(alone), 1)
    both, chance = together[first, second] / texts, alone[first] * alone[second] / texts**2
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(both / chance) / -np.log(both)
    # Words that never meet have the limit of -1, words that every text has that of 1.
    return float(np.where(both == 0, -1.0, np.where(both == 1, 1.0, information)).mean())

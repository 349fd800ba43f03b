"""Learning latent topics from texts, by collapsed Gibbs sampling (tomotopy).

Short texts have few topics each, so the prior starts small (two topics' worth in all) and is fitted twice on the way,
at a third and two thirds; fitting it more often takes longer than the sampling itself.

One thread and one seed give the same model again, on processors of the same kind. Several threads sample on copies that
are merged, in an order that nobody controls: they are faster and never quite the same. Topics have no fixed order or
name: train again, and the same topic may have another number.

What a model gives away: its words, and which of them go together. A word that few people use may name one of them. So
where it is said who wrote each text, a word enters the model only if at least ``least_people`` people (20 by default)
used it. That is a rule of thumb, not a guarantee: a group of words that only few people use together can still be a
topic. Without people nothing is known about who shares a word; such a model should stay where its texts are.

Topics find themselves, and rare ones may end up together in one. With ``guides`` the first topics are drawn to given
words: in its own topic such a word starts with `DRAWN` instead of eta, so that it goes there unless the texts say
otherwise.

Coherence says whether the words of a topic stand together in texts. For the telling words of a topic, the mean over
pairs of normalised pointwise mutual information (Bouma 2009; as a measure of topics Aletras and Stevenson 2013):
ln(P(a, b) / P(a) P(b)) / -ln P(a, b), with the shares of texts that have the words. It is 1 where two words only stand
together, 0 where they are independent, -1 where they never meet. People find topics of high coherence easier to name;
it does not say whether a topic is sensitive, or useful.
"""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.model.latent.model import TopicModel
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Texts, Vocabulary
from aidos.model.wordlimits import LIMITS, WordLimits, common_words, kept_texts, kept_words, said_of_words

__all__ = ["PAIRED", "READING", "coherence", "train_topics"]

READING = Analyser(stop_words="english", stemmer="english", shortest=2)
"""How texts are read where nothing else is said."""
TOPICS_OF_A_TEXT = 2.0
"""The prior in all, before it is fitted."""
SMOOTHING = 0.01
"""Eta, the prior of words in topics."""
DRAWN = 1.0
"""The prior of a guiding word in the topic that it guides to; shared where it guides to several."""
FITTINGS = 3
"""The prior is fitted after each of so many parts but the last."""
SMALLEST_PRIOR = 1e-5
STEP = 5
"""Iterations between two signs of progress."""


def train_topics(  # noqa: PLR0913 (what to learn from, how much, how long, and on how many cores)
    texts: Texts,
    *,
    topics: int = 200,
    guides: Sequence[Sequence[str]] = (),
    people: Sequence[object] | None = None,
    limits: WordLimits = LIMITS,
    analyser: Analyser = READING,
    iterations: int = 150,
    seed: int = 1,
    threads: int | None = 1,
    note: str = "",
    progress: Progress = SILENT,
) -> TopicModel:
    """Learn topics from texts; ``people`` says who wrote each, in the same order, as anything that can be compared.

    ``guides`` has words for each of the first topics, if these are to be about something given. ``threads`` None takes
    all cores. The model's coherences are those of its topics on the same texts.
    """
    _check(topics, iterations, seed, threads)
    if len(guides) > topics:
        raise ParameterError(f"{len(guides)} topics are to be guided, but there are {topics}", hint="learn more topics")
    vocabulary = Vocabulary()
    with progress.task("reading texts", total=None, unit="texts"):
        read = analyse(texts, vocabulary, analyser=analyser)
    kept = kept_words(read, vocabulary, limits, people)
    sampler = _sampler(kept_texts(read, vocabulary, kept), topics, seed)
    may_enter = frozenset(vocabulary.terms(np.flatnonzero(kept)))
    _guide(sampler, [may_enter.intersection(analyser.meanings(words)) for words in guides])
    _sample(sampler, iterations, threads, progress)
    model = _model(sampler, analyser, said_of_words(note, limits, people))
    model = replace(model, forms=_forms(model.words, texts, limits, analyser, people))
    numbers = model.numbers(vocabulary.terms(np.arange(len(vocabulary))))
    return replace(model, coherences=coherence(model, read.starts, numbers[read.terms]).astype(np.float32))


def _sampler(texts: Iterable[list[str]], topics: int, seed: int) -> Any:
    try:
        with warnings.catch_warnings():
            # Its loader imports in a way that Python warns of; where warnings are errors it would not load at all.
            warnings.simplefilter("ignore")
            from tomotopy import LDAModel
    except ImportError as error:
        raise MissingExtraError("learning topics", extra="risk") from error
    sampler = LDAModel(k=topics, alpha=TOPICS_OF_A_TEXT / topics, eta=SMOOTHING, seed=seed)
    for words in texts:
        sampler.add_doc(words)
    return sampler


def _guide(sampler: Any, guides: Sequence[frozenset[str]]) -> None:
    """Give the words of each guide a larger prior in its topic. A word that is not in the texts would enter by it."""
    drawn: dict[str, set[int]] = defaultdict(set)
    for topic, terms in enumerate(guides):
        for term in sorted(terms):
            drawn[term].add(topic)
    for term, own in drawn.items():
        prior = np.full(sampler.k, SMOOTHING)
        prior[list(own)] = DRAWN / len(own)
        sampler.set_word_prior(term, prior.tolist())


def _sample(sampler: Any, iterations: int, threads: int | None, progress: Progress) -> None:
    workers = threads or os.cpu_count() or 1
    sampler.burn_in = 0
    sampler.optim_interval = iterations // FITTINGS + 1
    with progress.task("learning topics", total=iterations, unit="iterations") as task, warnings.catch_warnings():
        # It warns that several threads never give the same twice: that is said above.
        warnings.simplefilter("ignore", RuntimeWarning)
        sampler.train(
            iterations,
            workers=workers,
            callback_interval=STEP,
            callback=lambda _, done, __: task.move_to(done),
        )


def _model(sampler: Any, analyser: Analyser, note: str) -> TopicModel:
    counts = np.asarray(sampler.get_count_by_topics(), dtype=np.float64)
    phi = np.stack([sampler.get_topic_word_dist(topic, normalize=True) for topic in range(sampler.k)])
    return TopicModel(
        words=tuple(sampler.used_vocabs),
        phi=phi.astype(np.float32),
        prior=np.maximum(np.asarray(sampler.alpha, dtype=np.float32), SMALLEST_PRIOR),
        analyser=analyser,
        shares=(counts / counts.sum()).astype(np.float32),
        note=note,
    )


def _forms(
    words: Sequence[str], texts: Texts, limits: WordLimits, analyser: Analyser, people: Sequence[object] | None
) -> tuple[str, ...]:
    """How each word is mostly written, among forms that enough people use; the word itself where there is none."""
    vocabulary = Vocabulary()
    read = analyse(texts, vocabulary, analyser=replace(analyser, stemmer=""))
    written = vocabulary.terms(np.arange(len(vocabulary)))
    common = common_words(read, vocabulary, limits, people)
    order = np.argsort(np.bincount(read.terms, minlength=len(vocabulary)), kind="stable")
    stems = analyser.meanings(written)
    # The most frequent comes last, and stays.
    found = {stems[place]: written[place] for place in order.tolist() if common[place]}
    return tuple(found.get(word, word) for word in words)


def _check(topics: int, iterations: int, seed: int, threads: int | None) -> None:
    problems = []
    if not 1 <= topics <= 32767:
        problems.append(f"topics must be from 1 to 32767, got {topics}")
    if iterations < 1:
        problems.append(f"iterations must be at least 1, got {iterations}")
    if not 0 <= seed < 2**63:
        problems.append(f"seed must be at least 0 and below 2^63, got {seed}")
    if threads is not None and threads < 1:
        problems.append(f"threads must be at least 1, got {threads}")
    if problems:
        raise ParameterError("; ".join(problems))


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

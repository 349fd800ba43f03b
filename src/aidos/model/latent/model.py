"""A topic model: the words of each latent topic, and where a short text stands among the topics.

The model is that of latent Dirichlet allocation (Blei, Ng and Jordan 2003): a topic is a distribution over words (phi),
a text is a mixture of topics (theta) under a Dirichlet prior (alpha). `aidos.model.latent.training` learns phi and
alpha; here they are fixed, and theta of new texts is found by folding in: theta is what maximises

    sum over words of  frequency * ln(sum over topics of theta * phi)   +   sum over topics of  alpha * ln theta

which is the most probable mixture in the softmax basis (MacKay 1998). The sum is concave, so there is one maximum;
expectation maximisation climbs towards it from the prior's mean, for a fixed number of steps. No random number is
drawn: the same text has the same theta, alone or among others, on one thread or many. Sampling, as tomotopy's own
inference does it, draws another theta each time, and mixes slowly for short texts under a small prior.

The last steps are slow where topics share words. On made-up posts of 11 words the leading topic after 50 steps is that
of the maximum for 99 of 100; how well posts are ranked for a topic is the same (mean average precision 0.89) after 10
steps, after 50, at the maximum, and by the collapsed variational rule (CVB0).

A text without any known word is about nothing: its row is zero, not the prior.

A model holds words and numbers, no text. Still it says which words were in use where it was trained; see `training` for
how many people must share a word. What a topic is about is for people to say: the model only knows which words go
together.

Its file holds just that, and where the model comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.model.archive import read_archive, write_archive
from aidos.model.retrieval.threads import in_chunks
from aidos.model.text.analyser import Analyser

__all__ = ["STEPS", "Salient", "TopicModel", "default_file", "read_model", "write_model"]

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

STEPS = 50
"""Steps of expectation maximisation."""
CHUNK = 2048
"""Texts that a thread takes at a time."""
UNEVEN = 1e-3
"""How far the words of a topic may be from summing to 1: single precision, and many words."""
RELEVANCE = 0.6
"""Weight of the plain probability in the relevance of words."""
PLAIN = Analyser()


@dataclass(frozen=True, slots=True, kw_only=True)
class Salient:
    """A telling word of a latent topic."""

    word: str
    """The term, as the analyser writes it."""
    form: str
    """The word as people mostly write it."""
    probability: float
    """P(word | topic)."""
    lift: float
    """How many times as likely as in the whole corpus."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicModel:
    """Words, phi and alpha of a topic model; it does not change once made."""

    words: tuple[str, ...]
    """Distinct terms, as the analyser writes them; a word's number is its place."""
    phi: Floats = field(repr=False)
    """P(word | topic), a row a topic."""
    prior: Floats = field(repr=False)
    """Alpha, above 0, one for each topic."""
    analyser: Analyser = PLAIN
    """How texts became terms when it was trained, and so must be from now on."""
    shares: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32), repr=False)
    """The share of the corpus that each topic has; alike by the prior where none are given."""
    coherences: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32), repr=False)
    """Coherence of each topic on the texts of the training; not a number where it is not known."""
    forms: tuple[str, ...] = ()
    """How people mostly write each word; the word itself where none are given, or too few people write it so."""
    note: str = ""
    """Where it comes from, for people to read."""
    _by_word: Floats = field(init=False, repr=False)
    _numbers: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = np.asarray(self.phi, dtype=np.float32)
        prior = np.asarray(self.prior, dtype=np.float32)
        _check(self.words, given, prior)
        topics = len(given)
        shares = np.asarray(self.shares if len(self.shares) else prior / prior.sum(), dtype=np.float32)
        unknown = np.full(topics, np.nan, dtype=np.float32)
        coherences = np.asarray(self.coherences if len(self.coherences) else unknown, dtype=np.float32)
        _check_shares(topics, shares, coherences)
        if self.forms and len(self.forms) != len(self.words):
            raise ParameterError(f"TopicModel: {len(self.forms)} forms were given for {len(self.words)} words")
        # The numbers of one word lie together, since that is how inference reads them.
        by_word = np.ascontiguousarray(given.T)
        for name, value in (
            ("_by_word", by_word),
            ("phi", by_word.T),
            ("prior", prior),
            ("shares", shares),
            ("coherences", coherences),
        ):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_numbers", {word: number for number, word in enumerate(self.words)})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The model of a file that `save` wrote."""
        return cls(**read_model(Path(path)))

    @classmethod
    def default(cls) -> Self:
        """The model that comes with aidos, trained on posts of a made-up world: nobody's text is in it."""
        return cls.load(default_file())

    def save(self, path: str | Path) -> None:
        """Write the model to one file, whole or not at all."""
        write_model(
            Path(path),
            words=self.words,
            arrays={"phi": self.phi, "prior": self.prior, "shares": self.shares, "coherences": self.coherences},
            analyser=str(self.analyser),
            forms=self.forms,
            note=self.note,
        )

    def __len__(self) -> int:
        """How many topics it has."""
        return len(self.prior)

    def numbers(self, terms: Sequence[str]) -> Ints:
        """The number of each term; -1 where the model does not know it."""
        known = self._numbers
        return np.fromiter((known.get(term, -1) for term in terms), dtype=np.int32, count=len(terms))

    def infer(self, starts: Longs, words: Ints, frequencies: Ints, *, threads: int | None = None) -> Floats:
        """Theta of each entry, a row an entry and a column a topic: rows sum to 1, or are 0 without a known word.

        Entry i has the words from ``starts[i]`` to ``starts[i + 1]``, by the model's numbers, each so often as
        ``frequencies`` says; words of number -1 count for nothing. ``starts`` may begin above 0, as a slice does.
        """
        found = np.empty((max(len(starts) - 1, 0), len(self)), dtype=np.float32)
        self.infer_into(found, starts, words, frequencies, threads=threads)
        return found

    def infer_into(
        self, found: Floats, starts: Longs, words: Ints, frequencies: Ints, *, threads: int | None = None
    ) -> None:
        """The same, written into an array that is there already: all entries at once may not fit into memory."""
        from aidos.model.latent.kernels import fold_in

        starts = np.ascontiguousarray(starts, dtype=np.int64)
        words = np.ascontiguousarray(words, dtype=np.int32)
        times = np.ascontiguousarray(frequencies, dtype=np.float32)
        _check_entries(starts, words, times, len(self.words))
        if found.shape != (len(starts) - 1, len(self)) or found.dtype != np.float32 or not found.flags.c_contiguous:
            raise ParameterError(
                f"the array to write to must be of float32 and {len(starts) - 1} by {len(self)}, row by row"
            )

        def work(begin: int, end: int) -> None:
            fold_in(starts, words, times, self._by_word, self.prior, STEPS, begin, end, found)

        in_chunks(lambda: work, len(starts) - 1, CHUNK, threads)

    def salient(self, topic: int, number: int = 20) -> tuple[Salient, ...]:
        """The most telling words of a topic, by relevance (Sievert and Shirley 2014).

        Relevance is 0.6 ln P(word | topic) + 0.4 ln(P(word | topic) / P(word)): likely in the topic, and more so than
        elsewhere.
        """
        if not 0 <= topic < len(self):
            raise ParameterError(f"there is no topic {topic}: they are numbered from 0 to {len(self) - 1}")
        row = self.phi[topic].astype(np.float64)
        everywhere = self.background()
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = np.where(row > 0, row / everywhere, 0.0)
            relevance = np.where(row > 0, RELEVANCE * np.log(row) + (1 - RELEVANCE) * np.log(lift), -np.inf)
        best = np.argsort(-relevance, kind="stable")[:number]
        best = best[row[best] > 0]
        return tuple(
            Salient(
                word=self.words[place],
                form=(self.forms or self.words)[place],
                probability=float(row[place]),
                lift=float(lift[place]),
            )
            for place in best.tolist()
        )

    def background(self) -> NDArray[np.float64]:
        """P(word) in the whole corpus, as the topics and their shares say."""
        found: NDArray[np.float64] = self._by_word.astype(np.float64) @ self.shares.astype(np.float64)
        return found


def _check(words: Sequence[str], phi: Floats, prior: Floats) -> None:
    problems = []
    if phi.ndim != 2 or phi.shape != (len(prior), len(words)) or not phi.size:
        problems.append(
            f"phi is {' by '.join(map(str, phi.shape))}, but there are {len(prior)} topics and {len(words)} words"
        )
    elif not (np.isfinite(phi).all() and (phi >= 0).all()):
        problems.append("probabilities must be finite and not negative")
    elif not (np.abs(phi.sum(axis=1, dtype=np.float64) - 1) <= UNEVEN).all():
        problems.append("the probabilities of the words of a topic must sum to 1")
    if not (np.isfinite(prior).all() and (prior > 0).all()):
        problems.append("the prior must be finite and above 0")
    if len(set(words)) < len(words) or not all(words):
        problems.append("words must differ and not be empty")
    if problems:
        raise ParameterError(f"TopicModel: {'; '.join(problems)}")


def _check_shares(topics: int, shares: Floats, coherences: Floats) -> None:
    if shares.shape != (topics,) or not ((shares >= 0).all() and abs(float(shares.sum()) - 1) <= UNEVEN):
        raise ParameterError(f"TopicModel: shares must be {topics} numbers, not negative, that sum to 1")
    if coherences.shape != (topics,) or np.isinf(coherences).any():
        raise ParameterError(f"TopicModel: coherences must be {topics} numbers")


def _check_entries(starts: Longs, words: Ints, frequencies: Floats, known: int) -> None:
    """Compiled code does not look whether a place is there."""
    whole = len(starts) and starts[0] >= 0 and (np.diff(starts) >= 0).all() and starts[-1] <= len(words)
    if not whole:
        raise ParameterError("starts must not fall, and lie within the words")
    if len(frequencies) != len(words):
        raise ParameterError(f"there are {len(frequencies)} frequencies for {len(words)} words")
    here = slice(int(starts[0]), int(starts[-1]))
    if len(words[here]) and not (words[here].min() >= -1 and words[here].max() < known):
        raise ParameterError(f"words must be from 0 to {known - 1}, or -1 for words that the model does not know")
    if not (np.isfinite(frequencies[here]).all() and (frequencies[here] >= 0).all()):
        raise ParameterError("frequencies must be finite and not negative")


KIND = "an aidos topic model"
FORMAT = 1
"""Rises when the arrays or the facts change."""
ARRAYS = {"phi": (np.float32, 2), **dict.fromkeys(("prior", "shares", "coherences"), (np.float32, 1))}
"""By name, what they are made of, and how many dimensions they have."""


def default_file() -> Path:
    """The model that comes with aidos; ``tools/train_risk.py`` makes it."""
    return Path(str(files("aidos.model.latent").joinpath("sample_world.npz")))


def write_model(  # noqa: PLR0913 (all that a model is)
    path: Path,
    *,
    words: Sequence[str],
    forms: Sequence[str],
    arrays: Mapping[str, NDArray[np.float32]],
    analyser: str,
    note: str,
) -> None:
    """Write a model to one file; words that people mostly write otherwise are told with their form."""
    written = {word: form for word, form in zip(words, forms, strict=bool(forms)) if word != form}
    facts = {"analyser": analyser, "forms": written, "note": note}
    write_archive(path, kind=KIND, version=FORMAT, facts=facts, words=words, arrays=arrays)


def read_model(path: Path) -> dict[str, Any]:
    """What a model is made from."""
    facts, words, arrays = read_archive(path, kind=KIND, version=FORMAT, arrays=ARRAYS)
    written = facts.get("forms", {})
    if not isinstance(written, dict):
        raise InputError(f"{path} is damaged: it does not say how words are written", hint="make it again")
    return {
        "words": words,
        **arrays,
        "analyser": Analyser.parse(str(facts.get("analyser"))),
        "forms": tuple(str(written.get(word, word)) for word in words),
        "note": str(facts.get("note", "")),
    }

"""Running text from word numbers: sentences with capitals and full stops, and no more grammar than that."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.world.streams import Floats, Ints
from aidos.world.vocabulary import WORDS_PER_TOPIC, Vocabulary, pick, zipf_cumulative

__all__ = ["Prose", "Texts"]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as word numbers, one after the other."""

    words: Ints
    lengths: Ints

    @property
    def owners(self) -> Ints:
        """For each word, the text it is in."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def starts(self) -> Ints:
        """Where each text begins, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.lengths)])


@dataclass(frozen=True, slots=True)
class Prose:
    """Draws words from mixes of topics and writes them down."""

    vocabulary: Vocabulary
    shapes: pa.Array = field(init=False, repr=False)
    """All words four times: plain, capital, before a full stop, both."""

    def __post_init__(self) -> None:
        plain = self.vocabulary.words
        capital = [word[0].upper() + word[1:] for word in plain]
        listed = [*plain, *capital, *(word + "." for word in plain), *(word + "." for word in capital)]
        object.__setattr__(self, "shapes", pa.array(listed, pa.string()))

    def draw(
        self, stream: np.random.Generator, lengths: Ints, mix: tuple[Ints, Ints, Floats], background: float
    ) -> Texts:
        """Words of two topics a text (the first with the given share) and of the background."""
        main, second, shares = mix
        owners = np.repeat(np.arange(len(lengths)), lengths)
        units = stream.random((3, len(owners)))
        topics = np.where(units[0] < shares[owners], main[owners], second[owners])
        words = self.vocabulary.topic_words[topics, pick(zipf_cumulative(WORDS_PER_TOPIC), units[1])]
        plain = np.flatnonzero(units[2] < background)
        common = self.vocabulary.background
        words[plain] = common[pick(zipf_cumulative(len(common)), units[1][plain])]
        return Texts(words, lengths)

    def write(self, texts: Texts, ends: NDArray[np.bool_]) -> pa.Array:
        """The texts, with a full stop after the words marked as ends of sentences."""
        size = len(self.vocabulary.words)
        begins = np.concatenate([[True], ends[:-1]])
        starts = texts.starts
        begins[starts[:-1]] = True
        shaped = texts.words + size * begins + 2 * size * ends
        listed = pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), self.shapes.take(pa.array(shaped)))
        return pc.binary_join(listed, " ")

    def sentence_ends(self, stream: np.random.Generator, texts: Texts) -> NDArray[np.bool_]:
        """Sentences of about ten words; every text ends with one."""
        ends = stream.random(len(texts.words)) < 0.1
        ends[texts.starts[1:] - 1] = True
        return ends

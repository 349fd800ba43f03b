"""Running text from word numbers: sentences with capitals and full stops, and no more grammar than that."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from aidos.world.columns import Column, join_words, texts
from aidos.world.streams import Flags, Floats, Ints
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
    shapes: Column = field(init=False, repr=False)
    """All words four times: plain, capital, before a full stop, both."""

    def __post_init__(self) -> None:
        plain = self.vocabulary.words
        capital = [word[0].upper() + word[1:] for word in plain]
        listed = [*plain, *capital, *(word + "." for word in plain), *(word + "." for word in capital)]
        object.__setattr__(self, "shapes", texts(listed))

    def draw(
        self,
        stream: np.random.Generator,
        lengths: Ints,
        mix: tuple[Ints, Ints, Floats],
        background: float,
        habits: Ints | None = None,
    ) -> Texts:
        """Words of two topics a text (the first with the given share) and of the background.

        ``habits`` has a row for each text: the places of the few words of its first topic that it keeps to, or -1 where
        it uses all of them.
        """
        main, second, shares = mix
        owners = np.repeat(np.arange(len(lengths)), lengths)
        units = stream.random((3, len(owners)))
        on_first = units[0] < shares[owners]
        topics = np.where(on_first, main[owners], second[owners])
        places = pick(zipf_cumulative(WORDS_PER_TOPIC), units[1])
        if habits is not None:
            kept = np.flatnonzero(on_first & (habits[owners, 0] >= 0))
            places[kept] = habits[owners[kept], pick(zipf_cumulative(habits.shape[1]), units[1][kept])]
        words = self.vocabulary.topic_words[topics, places]
        plain = np.flatnonzero(units[2] < background)
        common = self.vocabulary.background
        words[plain] = common[pick(zipf_cumulative(len(common)), units[1][plain])]
        return Texts(words, lengths)

    def write(self, written: Texts, ends: Flags) -> Column:
        """The texts, with a full stop after the words marked as ends of sentences."""
        size = len(self.vocabulary.words)
        begins = np.concatenate([[True], ends[:-1]])
        starts = written.starts
        begins[starts[:-1]] = True
        shaped = written.words + size * begins + 2 * size * ends
        return join_words(self.shapes, shaped, starts)

    def sentence_ends(self, stream: np.random.Generator, written: Texts) -> Flags:
        """Sentences of about ten words; every text ends with one."""
        ends = stream.random(len(written.words)) < 0.1
        ends[written.starts[1:] - 1] = True
        return ends

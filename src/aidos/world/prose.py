"""Text in the world: sentences from word numbers, invented sites, and the rare tokens of the long tail.

Sites live below ``.example``, addresses at ``example.org``, telephone numbers in the 555-01xx range: all reserved
for fiction. Invented words are strings of syllables; that none is a word somewhere cannot be promised.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.world.columns import Column, choose, fixed_texts, glue, join_words, take, texts
from aidos.world.streams import Flags, Floats, Ints, hash_numbers
from aidos.world.vocabulary import WORDS_PER_TOPIC, Vocabulary, pick, zipf_cumulative

__all__ = [
    "FIRST_CLIENT",
    "SITES",
    "Prose",
    "Texts",
    "client_texts",
    "digit_texts",
    "rare_texts",
    "site_address",
    "site_names",
]


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


FIRST_CLIENT = 10_000_001
"""The first person's pseudonym; eight digits are enough for every world."""

SITES = 400
"""Invented web sites that people go to by name."""

_SITE_FIRST = (
    "fern moss lark wren quill thistle pebble marl tarn bramble heath sorrel finch alder rowan hazel "
    "osier teasel yarrow campion"
)
_SITE_LAST = (
    "post quay nook weir dell loom wick ferry bell gate mill cove yard croft barn stile brook lane moor fold shaw garth"
)
_STARTS = "ba bo cra da dru el fi ga glo ha ji ka kro li ma mo ni or pla qua ro sha ti ul ve wi xa yo za zu"
_MIDDLES = "ba cen dor fi gal hu ja kel lim mon nar pe ral sin tor va"
_ENDS = "bix dan fos gle kor lam mip nus pad rel sto tav vun wex yor zel"


def digit_texts(*pieces: str | tuple[Ints, int]) -> Column:
    """Texts from fixed pieces and numbers of fixed width with leading zeros, such as ``q``, ``(numbers, 5)``."""
    rows = next(len(piece[0]) for piece in pieces if not isinstance(piece, str))
    widths = [len(piece) if isinstance(piece, str) else piece[1] for piece in pieces]
    matrix = np.empty((rows, sum(widths)), dtype=np.uint8)
    place = 0
    for piece, width in zip(pieces, widths, strict=True):
        if isinstance(piece, str):
            matrix[:, place : place + width] = np.frombuffer(piece.encode(), np.uint8)
        else:
            _fill_digits(matrix[:, place : place + width], piece[0])
        place += width
    return fixed_texts(matrix)


def _fill_digits(target: NDArray[np.uint8], numbers: Ints) -> None:
    """Write numbers from the right, three digits at a time: looking three up is faster than dividing thrice."""
    thousand = np.arange(1000)
    table = np.stack([thousand // 100, thousand // 10 % 10, thousand % 10], axis=1).astype(np.uint8) + ord("0")
    rest = numbers.astype(np.uint32)
    end = target.shape[1]
    while end > 0:
        width = min(3, end)
        rest, low = np.divmod(rest, 1000)
        target[:, end - width : end] = table[low][:, 3 - width :]
        end -= width


def client_texts(people: Ints) -> Column:
    """Pseudonyms of people, given by number."""
    return digit_texts((people + FIRST_CLIENT, 8))


def site_names() -> tuple[str, ...]:
    """The invented sites, the most visited first."""
    pairs = [first + last for last in _SITE_LAST.split() for first in _SITE_FIRST.split()]
    order = np.argsort(hash_numbers(0, "site", np.arange(len(pairs))))
    chosen = [pairs[place] for place in order if pairs[place] != "fernpost"]
    return ("fernpost", *chosen)[:SITES]


def site_address(name: str) -> str:
    """The home page of a site, below the top-level domain that is reserved for examples."""
    return f"https://{name}.example"


def rare_texts(numbers: Ints) -> Column:
    """A rare token for each number: an invented word, a product code, an address or a telephone number."""
    kind = numbers % 10
    rest = numbers // 10
    words = glue(_piece(_STARTS, rest), _piece(_MIDDLES, rest // 32), _piece(_ENDS, rest // 512))
    codes = glue(_piece(_ENDS, rest), digit_texts((rest // 16 % 10_000, 4)))
    addresses = glue(words, digit_texts((rest // 8192 % 100, 2)), "@example.org")
    phones = digit_texts((200 + rest % 800, 3), "-555-01", (rest // 800 % 100, 2))
    return choose(np.searchsorted([5, 8, 9], kind, side="right"), words, codes, addresses, phones)


def _piece(pieces: str, numbers: Ints) -> Column:
    listed = pieces.split()
    return take(texts(listed), numbers % len(listed))

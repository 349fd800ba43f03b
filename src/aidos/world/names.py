"""Names in the world: numbers as text, invented sites, and the rare tokens of the long tail.

Sites live below ``.example``, addresses at ``example.org``, telephone numbers in the 555-01xx range: all reserved
for fiction. Invented words are strings of syllables; that none is a word somewhere cannot be promised.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aidos.world.streams import Ints, hash_numbers

__all__ = ["FIRST_CLIENT", "SITES", "client_texts", "digit_texts", "rare_texts", "site_names"]

FIRST_CLIENT = 10_000_001
"""The first person's pseudonym; eight digits are enough for every world."""

SITES = 400
"""Invented web sites that people go to by name."""

_SITE_FIRST = "fern moss lark wren quill thistle pebble marl tarn bramble heath sorrel finch alder rowan hazel osier teasel".split()
_SITE_LAST = "post quay nook weir dell loom wick ferry bell gate mill cove yard croft barn stile brook lane moor fold".split()
_STARTS = "ba bo cra da dru el fi ga glo ha ji ka kro li ma mo ni or pla qua ro sha ti ul ve wi xa yo za zu".split()
_MIDDLES = "ba cen dor fi gal hu ja kel lim mon nar pe ral sin tor va".split()
_ENDS = "bix dan fos gle kor lam mip nus pad rel sto tav vun wex yor zel".split()


def digit_texts(*pieces: str | tuple[Ints, int]) -> pa.Array:
    """Texts from fixed pieces and numbers of fixed width with leading zeros, such as ``q``, ``(numbers, 5)``."""
    rows = next(len(piece[0]) for piece in pieces if not isinstance(piece, str))
    columns = []
    for piece in pieces:
        if isinstance(piece, str):
            columns.append(np.broadcast_to(np.frombuffer(piece.encode(), np.uint8), (rows, len(piece))))
        else:
            numbers, width = piece
            powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
            columns.append((numbers[:, None] // powers % 10 + ord("0")).astype(np.uint8))
    matrix = np.ascontiguousarray(np.concatenate(columns, axis=1))
    offsets = np.arange(rows + 1, dtype=np.int32) * matrix.shape[1]
    return pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(matrix))


def client_texts(people: Ints) -> pa.Array:
    """Pseudonyms of people, given by number."""
    return digit_texts((people + FIRST_CLIENT, 8))


def site_names() -> tuple[str, ...]:
    """The invented sites, the most visited first."""
    pairs = [first + last for last in _SITE_LAST for first in _SITE_FIRST]
    order = np.argsort(hash_numbers(0, "site", np.arange(len(pairs))))
    chosen = [pairs[place] for place in order if pairs[place] != "fernpost"]
    return ("fernpost", *chosen)[:SITES]


def rare_texts(numbers: Ints) -> pa.Array:
    """A rare token for each number: an invented word, a product code, an address or a telephone number."""
    kind = numbers % 10
    rest = numbers // 10
    words = _glued(_piece(_STARTS, rest), _piece(_MIDDLES, rest // 32), _piece(_ENDS, rest // 512))
    codes = _glued(_piece(_ENDS, rest), digit_texts((rest // 16 % 10_000, 4)))
    addresses = _glued(words, digit_texts((rest // 8192 % 100, 2)), pa.scalar("@example.org"))
    phones = digit_texts((200 + rest % 800, 3), "-555-01", (rest // 800 % 100, 2))
    return pc.choose(pa.array(np.searchsorted([5, 8, 9], kind, side="right")), words, codes, addresses, phones)


def _piece(pieces: Sequence[str], numbers: Ints) -> pa.Array:
    return pa.array(pieces).take(pa.array(numbers % len(pieces)))


def _glued(*pieces: pa.Array | pa.Scalar) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, "")

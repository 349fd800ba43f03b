"""Word vectors as others write them down: text of word2vec or GloVe, and word2vec's binary form.

Text has a line a word, the word and then its numbers, with single blanks between them; a first line of two whole
numbers (words, dimensions) is a header of word2vec, which GloVe does not have. A word may have blanks itself: the last
numbers of a line count. Binary files have that header, and then each word, a blank, and its single-precision numbers.

Nothing is guessed or passed over: other numbers of dimensions, words that come twice and numbers that are none are told
by their lines.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from aidos.engine.inputs import open_input
from aidos.engine.unpacking import BrokenStreamError, open_unpacked
from aidos.errors import InputError, ParameterError
from aidos.model.rows import Troubles

__all__ = ["read_vectors"]

Floats = NDArray[np.float32]
Found = tuple[tuple[str, ...], Floats]
MOST_DIMENSIONS = 10_000
LONGEST = 1 << 24
"""Bytes of a line."""
ENOUGH = 50
"""Troubles after which the rest of a file is not looked at."""
CUT = "the file is cut short, or no vectors; fetch it again"


def read_vectors(path: Path, most_words: int | None = None) -> Found:
    """Words and their vectors, as they are written; only the first ``most_words`` where that is given."""
    if most_words is not None and most_words < 1:
        raise ParameterError(f"most_words must be at least 1, got {most_words}")
    try:
        found = _binary(path, most_words) if path.suffix == ".bin" else _text(path, most_words)
    except (OSError, BrokenStreamError) as error:
        raise InputError(f"{path} cannot be read", hint=CUT) from error
    if not found[0]:
        raise InputError(f"{path} has no vector", hint="check the name")
    return found


def _text(path: Path, most_words: int | None) -> Found:
    troubles = Troubles(str(path))
    words: dict[str, None] = {}
    rows: list[Floats] = []
    dimensions = 0
    for number, line in islice(_lines(path), None if most_words is None else most_words + 1):
        if number == 1 and (header := _header(line)):
            dimensions = header[1]
            continue
        if most_words is not None and len(rows) == most_words:
            break
        dimensions = dimensions or _dimensions(line)
        word, row = _row(line, dimensions, number, troubles)
        if word in words:
            troubles.add(number, "repeated-word", "the word has a line already")
        if row is not None:
            words[word] = None
            rows.append(row)
        if sum(map(len, troubles.found.values())) >= ENOUGH:
            break
    troubles.refuse()
    return tuple(words), np.stack(rows) if rows else np.zeros((0, 1), dtype=np.float32)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with open_unpacked(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST), b""), start=1):
            if len(line) == LONGEST:
                raise InputError(f"{path}, line {number} is longer than {LONGEST >> 20} MB", hint="are these vectors?")
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                yield number, text


def _header(line: str) -> tuple[int, int] | None:
    parts = line.split()
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    count, dimensions = map(int, parts)
    return (count, dimensions) if 1 <= dimensions <= MOST_DIMENSIONS else None


def _dimensions(line: str) -> int:
    return min(max(1, len(line.split(" ")) - 1), MOST_DIMENSIONS)


def _row(line: str, dimensions: int, number: int, troubles: Troubles) -> tuple[str, Floats | None]:
    """The word and its numbers; None where something is wrong, which is told."""
    word, *numbers = line.rsplit(" ", dimensions)
    if len(numbers) < dimensions or not word.strip():
        troubles.add(number, "dimensions", f"a word and {dimensions} numbers are expected, the line has fewer parts")
        return word, None
    try:
        row = np.array(numbers, dtype=np.float32)
    except ValueError:
        troubles.add(number, "bad-number", f"the last {dimensions} parts of the line are not all numbers")
        return word, None
    if not np.isfinite(row).all():
        troubles.add(number, "bad-number", "a number is not finite")
        return word, None
    if _is_number(word.rpartition(" ")[2]) and " " in word:
        troubles.add(number, "dimensions", f"a word and {dimensions} numbers are expected, the line has more numbers")
        return word, None
    return word, row


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _binary(path: Path, most_words: int | None) -> Found:
    with open_input(path) as file:
        if not os.fstat(file.fileno()).st_size:
            raise InputError(f"{path} is empty", hint=CUT)
        return _mapped(path, file, most_words)


def _mapped(path: Path, file: BinaryIO, most_words: int | None) -> Found:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = data.find(b"\n", 0, 100)
        header = _header(data[: max(end, 0)].decode("ascii", "replace"))
        if header is None:
            raise InputError(f"{path} does not begin as binary vectors do", hint="text needs another ending than .bin")
        count, dimensions = header
        count = min(count, most_words or count)
        if count * 4 * dimensions > len(data):
            raise InputError(f"{path} is too short for what its first line says", hint=CUT)
        return _entries(path, data, end + 1, count, dimensions)


def _entries(path: Path, data: mmap.mmap, place: int, count: int, dimensions: int) -> Found:
    words: dict[str, None] = {}
    matrix = np.empty((count, dimensions), dtype=np.float32)
    for number in range(count):
        blank = data.find(b" ", place)
        after = blank + 1 + 4 * dimensions
        if blank < 0 or after > len(data):
            raise InputError(f"{path} ends within word {number + 1} of {count}", hint=CUT)
        word = data[place:blank].decode("utf-8", "replace").lstrip("\n")
        matrix[number] = np.frombuffer(data[blank + 1 : after], dtype="<f4")
        if word in words or not word or not np.isfinite(matrix[number]).all():
            raise InputError(
                f"{path}: word {number + 1} comes a second time, is blank, or has numbers that are not finite", hint=CUT
            )
        words[word] = None
        place = after
    return tuple(words), matrix

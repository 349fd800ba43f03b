"""Word vectors: words as points, near where they are used alike.

Vectors are trained here by word2vec (Mikolov and others 2013, skip-gram with negative sampling, through gensim), or
loaded from what others trained: text of word2vec or GloVe, binary files of word2vec, or the NumPy file that `save`
writes. Rows are scaled to length 1, so that a product is a cosine.

Vectors carry what the texts they come from associate, prejudices among it; a word is one point, whatever its senses.
Vectors trained on private texts tell something about those texts. As for topics, a word enters only if at least 20
people use it, where it is said who wrote what (see `aidos.model.wordlimits`); that is no guarantee.

Of the files that others write, text has a line a word, the word and then its numbers, with single blanks between them;
a first line of two whole numbers (words, dimensions) is a header of word2vec, which GloVe does not have. A word may
have blanks itself: the last numbers of a line count. Binary files have that header, and then each word, a blank, and
its single-precision numbers. Nothing is guessed or passed over: other numbers of dimensions, words that come twice and
numbers that are none are told by their lines.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress, Task
from aidos.engine.inputs import open_input
from aidos.engine.unpacking import BrokenStreamError, open_unpacked
from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.model.archive import read_archive, write_archive
from aidos.model.rows import Troubles
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Texts, Vocabulary
from aidos.model.wordlimits import LIMITS, WordLimits, kept_texts, kept_words, said_of_words

__all__ = ["WordVectors", "read_vectors", "train_vectors"]

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


Ints = NDArray[np.int32]
PLAIN = Analyser()
READING = Analyser(stop_words="english", stemmer="english", shortest=2)
KIND = "word vectors of aidos"
FORMAT = 1
WINDOW = 5
"""Words on either side that are looked at together."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordVectors:
    """Words and their vectors, a row each, of length 1."""

    words: tuple[str, ...]
    """Distinct words; a word's number is its place."""
    matrix: Floats = field(repr=False)
    """A row a word; scaled to length 1 when made. A row of zeros stays one."""
    analyser: Analyser = PLAIN
    """How texts became words before training."""
    note: str = ""
    """Where they come from, for people to read."""
    _numbers: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix, dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != len(self.words) or not matrix.size or not np.isfinite(matrix).all():
            raise ParameterError("WordVectors: a matrix of finite numbers is needed, with a row for every word")
        if len(set(self.words)) < len(self.words) or not all(self.words):
            raise ParameterError("WordVectors: words must differ and not be empty")
        lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
        matrix /= np.where(lengths > 0, lengths, 1.0).astype(np.float32)[:, None]
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "_numbers", {word: number for number, word in enumerate(self.words)})

    @classmethod
    def load(cls, path: str | Path, *, analyser: Analyser | None = None, most_words: int | None = None) -> Self:
        """The vectors of a file: ``.npz`` as `save` writes it, ``.bin`` of word2vec, or text (``.gz`` as well).

        Files of others do not say how texts became words; ``analyser`` does, and is plain where it is not given. With
        ``most_words`` only the first words of such a file are taken, which are the most frequent ones as a rule.
        """
        path = Path(path)
        if path.suffix != ".npz":
            words, matrix = read_vectors(path, most_words)
            return cls(words=words, matrix=matrix, analyser=analyser or PLAIN, note=f"Loaded from {path.name}.")
        facts, words, arrays = read_archive(path, kind=KIND, version=FORMAT, arrays={"matrix": (np.float32, 2)})
        made = cls(
            words=words,
            matrix=arrays["matrix"],
            analyser=Analyser.parse(str(facts.get("analyser"))),
            note=str(facts.get("note", "")),
        )
        if analyser not in {None, made.analyser}:
            raise ParameterError(f"{path} was made with the analyser {made.analyser}, not with {analyser}")
        return made

    def save(self, path: str | Path) -> None:
        """Write them to one file, whole or not at all."""
        facts = {"analyser": str(self.analyser), "note": self.note}
        arrays = {"matrix": self.matrix}
        write_archive(Path(path), kind=KIND, version=FORMAT, facts=facts, words=self.words, arrays=arrays)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self.matrix.shape[1])

    def numbers(self, words: Sequence[str]) -> Ints:
        """The number of each word; -1 where it has no vector."""
        known = self._numbers
        return np.fromiter((known.get(word, -1) for word in words), dtype=np.int32, count=len(words))

    def nearest(self, word: str, number: int = 10) -> tuple[tuple[str, float], ...]:
        """The words that are used most alike, each with its cosine, the nearest first."""
        place = self._numbers.get(word)
        if place is None:
            raise ParameterError("the word has no vector", hint=f"words are written as {self.analyser} does")
        cosines = self.matrix @ self.matrix[place]
        order = np.argsort(-cosines, kind="stable")
        found = order[order != place][:number]
        return tuple((self.words[other], float(cosines[other])) for other in found.tolist())


def train_vectors(  # noqa: PLR0913 (what to learn from, how much, how long, and on how many cores)
    texts: Texts,
    *,
    dimensions: int = 100,
    people: Sequence[object] | None = None,
    limits: WordLimits = LIMITS,
    analyser: Analyser = READING,
    epochs: int = 5,
    seed: int = 1,
    threads: int | None = 1,
    note: str = "",
    progress: Progress = SILENT,
) -> WordVectors:
    """Learn vectors from texts; ``people`` says who wrote each, in the same order.

    One thread and one seed give the same vectors again; several threads (None takes all cores) never quite do.
    """
    wrong = [name for name, value in (("dimensions", dimensions), ("epochs", epochs), ("seed", seed)) if value < 1]
    if wrong or (threads is not None and threads < 1) or seed >= 2**32:
        raise ParameterError(
            f"{', '.join(wrong) or 'seed or threads'} cannot be so small or large",
            hint="all are at least 1, and the seed is below 2^32",
        )
    vocabulary = Vocabulary()
    read = analyse(texts, vocabulary, analyser=analyser)
    kept = kept_words(read, vocabulary, limits, people)
    sentences = list(kept_texts(read, vocabulary, kept))
    with progress.task("learning word vectors", total=epochs, unit="rounds") as task:
        learnt = _learnt(sentences, dimensions, epochs, seed, threads or os.cpu_count() or 1, task)
    return WordVectors(
        words=tuple(learnt.index_to_key),
        matrix=learnt.vectors,
        analyser=analyser,
        note=said_of_words(note, limits, people),
    )


def _learnt(  # noqa: PLR0913, PLR0917 (handed through from above)
    sentences: list[list[str]], dimensions: int, epochs: int, seed: int, workers: int, task: Task
) -> Any:
    try:
        from gensim.models import Word2Vec
        from gensim.models.callbacks import CallbackAny2Vec
    except ImportError as error:
        raise MissingExtraError("learning word vectors", extra="risk") from error

    class Told(CallbackAny2Vec):  # type: ignore[misc] # gensim has no types
        def on_epoch_end(self, _model: object) -> None:
            task.advance(1)

    return Word2Vec(
        sentences,
        vector_size=dimensions,
        window=WINDOW,
        min_count=1,  # what is rare was left out before
        sg=1,
        epochs=epochs,
        seed=seed,
        workers=workers,
        callbacks=[Told()],
    ).wv

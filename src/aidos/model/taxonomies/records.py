"""What a reader of a taxonomy file fills, and what all of them check: topics, each with the line it stands on.

A reader knows its format; whether the topics make a tree is asked here, once for all formats. All that is wrong is told
at once, with the file, the lines and the topics: ids that repeat, parents that are not there, cycles, several roots. A
forest gets a root of its own only where the format is a forest by nature, and that is said. Taxonomies are public, so
that their topics may be named in messages.

Files are UTF-8, packed with gzip or zstd or not; where one is no text, the line is named. Lines are read one by one, so
that a file takes no more memory than its topics, and each has an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.core.topictree import TopicTree
from aidos.engine.unpacking import BrokenStreamError, open_unpacked
from aidos.errors import InputError, Problem

__all__ = [
    "LONGEST",
    "ROOT_NAME",
    "Draft",
    "ImportedTaxonomy",
    "TaxonomyFormat",
    "numbered_lines",
    "open_file",
    "read_head",
    "read_text",
]

ROOT_NAME = "All topics"
"""Of a root that the source does not have."""
SHOWN = 5
"""How many topics and lines a problem names."""
MEND = "mend the file, or take the lines out"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxonomyFormat:
    """A kind of file that taxonomies come in."""

    name: str
    """What `--format` calls it."""
    title: str
    """What people call it."""
    is_forest: bool
    """Whether such files have many main topics and no root, by nature."""
    recognises: Callable[[str], bool]
    """Whether a file that begins so is one."""
    read: Callable[[Path, Draft], None]
    """Put the topics of the file into the draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTaxonomy:
    """A taxonomy with what its source said besides."""

    taxonomy: Taxonomy = field(repr=False)
    format: str
    """The name of the format it was read from."""
    leaf_supports: Mapping[str, float] = field(default_factory=dict, repr=False)
    """How much lies at topics without children, where the source says so."""
    remarks: tuple[str, ...] = ()
    """What a reader of the source should know."""

    def tree(self) -> TopicTree:
        """The arrays of the taxonomy, with its supports."""
        return TopicTree.of(self.taxonomy, self.leaf_supports)


@dataclass(slots=True, kw_only=True)
class Draft:
    """Topics on their way into a taxonomy."""

    file: str
    first_parent: bool = False
    """Whether a topic with several parents keeps the first alone; it stands below each of them otherwise."""
    place: str = "line"
    """What the numbers count, where the file has no lines."""
    topics: list[Topic] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    supports: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, line: int, topic: Topic) -> None:
        """One more topic and where it stands; one without id or name is a problem."""
        if not topic.id or not topic.name:
            self.trouble("nameless-topic", "a topic has no id or no name", [line])
            return
        if len(self.topics) == MOST:
            raise _too_many(self.file, "topics")
        self.topics.append(topic)
        self.lines.append(line)

    def trouble(self, kind: str, sentence: str, lines: Iterable[int], *, remedy: str = MEND) -> None:
        """Something is wrong with these lines; the same sentence is told once, with all its lines."""
        numbers = tuple(lines)
        for at, known in enumerate(self.problems):
            if (known.kind, known.sentence) == (kind, sentence):
                self.problems[at] = self._problem(
                    kind, sentence, (*known.lines, *numbers), remedy, known.count + len(numbers)
                )
                return
        self.problems.append(self._problem(kind, sentence, numbers, remedy, max(1, len(numbers))))

    def refuse(self) -> None:
        """Raise InputError with all problems, if there are any."""
        if self.problems:
            more = f" (and {len(self.problems) - 1} more problems)" if len(self.problems) > 1 else ""
            hint = self.problems[0].remedy
            raise InputError(f"{self.problems[0]}{more}", hint=hint, problems=self.problems)

    def finish(self, *, is_forest: bool, name: str) -> ImportedTaxonomy:
        """The taxonomy; InputError with everything that keeps the topics from being a tree."""
        self.refuse()
        if not self.topics:
            raise InputError(
                f"{self.file} has no topic", hint="is it the right file, and of the format that was named?"
            )
        self._check_ids()
        self.refuse()
        roots = [place for place, topic in enumerate(self.topics) if not topic.parent]
        if len(roots) > 1 and is_forest:
            self._make_root(roots)
        elif len(roots) > 1:
            names = _some([self.topics[place].id for place in roots])
            remedy = "put one topic above them, or take the others out"
            sentence = f"{len(roots)} topics have no parent, and a taxonomy has one root: {names}"
            self.trouble("several-roots", sentence, [self.lines[place] for place in roots], remedy=remedy)
        self._check_cycles()
        self._check_supports()
        self.refuse()
        try:
            taxonomy = Taxonomy.of(self.topics)
        except InputError as error:  # too deep
            raise InputError(f"{self.file}: {error.message}", hint=MEND) from error
        return ImportedTaxonomy(
            taxonomy=taxonomy,
            format=name,
            leaf_supports=dict(self.supports),
            remarks=tuple(self.remarks),
        )

    def _problem(self, kind: str, sentence: str, lines: tuple[int, ...], remedy: str, count: int) -> Problem:
        return Problem(
            kind=kind,
            file=self.file,
            sentence=sentence,
            remedy=remedy,
            count=count,
            lines=lines[:SHOWN],
            place=self.place,
        )

    def _check_ids(self) -> None:
        known: set[str] = set()
        twice: dict[str, int] = {}
        for topic, line in zip(self.topics, self.lines, strict=True):
            if topic.id in known:
                twice.setdefault(topic.id, line)
            known.add(topic.id)
        if twice:
            self.trouble("repeated-topic", f"topics stand there more than once: {_some(list(twice))}", twice.values())
        rows = zip(self.topics, self.lines, strict=True)
        dangling = {topic: line for topic, line in rows if topic.parent and topic.parent not in known}
        if dangling:
            names = _some([f"{topic.id} (parent {topic.parent})" for topic in dangling])
            self.trouble(
                "unknown-parent", f"topics have a parent that the file does not have: {names}", dangling.values()
            )

    def _make_root(self, roots: list[int]) -> None:
        made = "root"
        known = {topic.id for topic in self.topics}
        while made in known:
            made += "-"
        for place in roots:
            old = self.topics[place]
            self.topics[place] = Topic(old.id, made, old.name, old.sensitive, old.description, old.words)
        self.topics.insert(0, Topic(made, "", ROOT_NAME))
        self.lines.insert(0, 0)
        self.remarks.append(f"the source has {len(roots)} main topics and no root: {made!r} was put above them")

    def _check_cycles(self) -> None:
        """Tell one cycle, in its order; who finds it will find the others by asking again."""
        parents = {topic.id: topic.parent for topic in self.topics}
        lines = {topic.id: line for topic, line in zip(self.topics, self.lines, strict=True)}
        sound: set[str] = {""}
        for start in parents:
            way: dict[str, None] = {}
            here = start
            while here not in sound and here not in way:
                way[here] = None
                here = parents[here]
            if here not in sound:
                steps = list(way)
                cycle = steps[steps.index(here) :]
                chain = " > ".join(reversed([*cycle[:SHOWN], *(["..."] if len(cycle) > SHOWN else []), cycle[0]]))
                self.trouble("cycle", f"topics are above and below one another: {chain}", [lines[one] for one in cycle])
                return
            sound.update(way)

    def _check_supports(self) -> None:
        inner = {topic.parent for topic in self.topics} & set(self.supports)
        if inner:
            lines = [line for topic, line in zip(self.topics, self.lines, strict=True) if topic.id in inner]
            sentence = f"topics with children have a support, which is the sum of theirs: {_some(sorted(inner))}"
            self.trouble("inner-support", sentence, lines, remedy="give supports only to topics without children")


def _some(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


HEAD = 1 << 16
"""Bytes that are looked at to tell the format."""
LONGEST = 1 << 24
"""Bytes of a line, or of whatever else is held until its end comes."""
LARGEST = 1 << 27
"""Bytes of a file that is read whole."""
MOST = 3_000_000
"""Topics of a taxonomy, and lines of a file that has one on each: the largest in use have two million."""
BOM = b"\xef\xbb\xbf"


@contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is packed; InputError when it is damaged, and that while reading too."""
    try:
        with open_unpacked(path) as file:
            yield file
    except BrokenStreamError as error:
        raise InputError(f"{path} is packed and damaged", hint="get or pack it again") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error


def read_head(path: Path) -> str:
    """How a file begins, whatever its encoding."""
    with open_file(path) as file:
        return file.read(HEAD).decode("utf-8-sig", "replace")


def read_text(path: Path) -> str:
    """The whole text of a file in UTF-8; InputError that names the line where it is not."""
    with open_file(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError(f"{path} holds more than {LARGEST >> 20} MB", hint="is it a taxonomy?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_text(path, data.count(b"\n", 0, error.start) + 1) from error


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1 on, without what ends them; empty ones are passed over."""
    given = 0
    with open_file(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST), b""), start=1):
            if len(line) == LONGEST:
                raise InputError(f"{path}, line {number} is longer than {LONGEST >> 20} MB", hint="is it a taxonomy?")
            try:
                text = (line.removeprefix(BOM) if number == 1 else line).decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise _no_text(path, number) from error
            if text and not text.isspace():
                given += 1
                if given > MOST:
                    raise _too_many(str(path), "lines")
                yield number, text


def _no_text(path: Path, line: int) -> InputError:
    return InputError(f"{path}, line {line}: the text is not in UTF-8", hint="save the file as UTF-8")


def _too_many(file: str, what: str) -> InputError:
    return InputError(f"{file} has more than {MOST:,} {what}", hint="is it a taxonomy?")

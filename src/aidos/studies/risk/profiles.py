"""Profiles that judges look at: which are drawn, the sheet that is filled in, and what judges said.

Very few people of a community are sensitive, so that profiles drawn evenly would hold almost none, and a measure that
says "nobody" would seem good. The thesis (section 6.5.1.2) draws people in proportion to base^score, where the score is
the plain strength of interest and the base makes up for the skew (10^2 for health forums, 10^3 for AOL). Here the draw
is systematic (Madow 1949): people stand in the order of their scores, each with a width of her chance to be drawn, and
a comb of step 1 is laid over them at a random place. So a person is drawn at most once, the chances are exactly in
proportion (those above 1 are 1, and the others rise), and every region of the ranking gets its share. One over the
chance is the weight by which what is seen in the sample can be carried over to the community; for the variance of such
an estimate the draw has no formula.

A sheet shows people's texts under their pseudonyms. It is written only where somebody asks for it, readable by its
owner alone, and is to be deleted after the judging. Its columns are author_id, topic, judge, relevance and entries;
judge and relevance are blank, and once they are filled in the sheet is a file of judgements. Every judge gets a copy;
the copies are read together by a pattern.

A file of judgements has a row for each judge and profile, with the columns author_id (or client_id, or person), topic,
judge and relevance; see `aidos.studies.judged`. A person is sensitive to a topic where the mean over her judges is
above one half, as in the thesis (section 6.5.1.5), or where more than half of them gave more than 0 ("majority"): with
yes and no both are the same. NDCG takes the mean itself. Profiles that nobody judged do not count at all, neither way.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from aidos.core.checks import check_parameters
from aidos.core.plaintext import sheet_cell
from aidos.engine.embedded import EmbeddedTable
from aidos.engine.files import replace_when_done
from aidos.errors import InputError, ParameterError
from aidos.studies.judged import JudgedItems, read_judged

__all__ = ["ProfileJudgements", "ProfileSample", "ProfileSampling", "Rule", "write_sheet"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Longs = NDArray[np.int64]
Rule = Literal["mean", "majority"]
"""When judges make a person sensitive."""
NAMES = {"client_id": "author_id", "person": "author_id"}
ROUNDING = 1e-9
COLUMNS = ("author_id", "topic", "judge", "relevance", "entries")
KINDS = (("author_id", "text"), ("client_id", "user_query"))
"""Columns of the person and of the words, in posts and in search logs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileSample:
    """People who were drawn for one topic."""

    people: Longs
    """Their rows, rising."""
    chances: Floats = field(repr=False)
    """How likely each of them was to be drawn."""

    def __len__(self) -> int:
        return len(self.people)

    @property
    def weights(self) -> Floats:
        """How many people of the community each stands for: one over the chance."""
        stands_for: Floats = 1.0 / self.chances
        return stands_for

    def total(self, values: ArrayLike) -> float:
        """What the values of the sample say about their sum over the community, without bias (Horvitz-Thompson)."""
        given = np.asarray(values, dtype=np.float64)
        if given.shape != self.people.shape:
            raise InputError(f"{given.size} values were given for {len(self)} people of the sample")
        return float(given @ self.weights)

    def mean(self, values: ArrayLike) -> float:
        """The mean over the community: the sum by the number of people, both as the sample says (Hajek)."""
        return self.total(values) / float(self.weights.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSampling:
    """How profiles are drawn for judging."""

    profiles: Annotated[int, Ge(1)] = 100
    """How many are drawn for a topic; all people where there are no more."""
    base: Annotated[float, Ge(1)] = 100.0
    """People are drawn in proportion to base^score (a); 1 draws evenly, 1000 suits very skewed scores."""
    seed: Annotated[int, Ge(0)] = 0
    """Of the draws."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def chances(self, scores: ArrayLike) -> Floats:
        """How likely each person is to be drawn; they sum to the number of profiles."""
        given = np.asarray(scores, dtype=np.float64)
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
            raise InputError("scores must be finite, one for each person, and at least one")
        wanted = min(self.profiles, len(given))
        # Powers of differences, so that no score is too large for the base.
        sizes = np.exp((given - given.max()) * np.log(self.base))
        sure = np.zeros(len(given), dtype=np.bool_)
        while True:
            left = wanted - int(sure.sum())
            found = np.where(sure, 1.0, left * sizes / max(float(sizes[~sure].sum()), np.finfo(float).tiny))
            above = ~sure & (found >= 1.0 - ROUNDING)
            # The last places go to nobody for sure: rounding would leave no chance at all to people of tiny size.
            if not above.any() or int(above.sum()) >= left:
                return np.minimum(found, 1.0)
            sure |= above

    def draw(self, scores: ArrayLike, topic: int = 0) -> ProfileSample:
        """Draw people by their scores; draws for different topics are independent."""
        chances = self.chances(scores)
        order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
        ends = np.cumsum(chances[order])
        # The sum is a whole number but for rounding, on which the last of the comb must not depend.
        ends *= round(float(ends[-1])) / ends[-1]
        teeth = np.random.default_rng([self.seed, topic]).random() + np.arange(round(float(ends[-1])))
        drawn = np.sort(order[np.searchsorted(ends, teeth, side="right")]).astype(np.int64)
        return ProfileSample(people=drawn, chances=chances[drawn])


def write_sheet(path: Path, entries: EmbeddedTable | pa.Table, drawn: Mapping[str, Sequence[str]]) -> int:
    """Write a sheet (.csv or .tsv) with the profiles that were drawn, names of people by topic; give their number."""
    if path.suffix not in (".csv", ".tsv"):
        raise ParameterError("a sheet for judges is a .csv or .tsv file", hint="name it so")
    wanted = {name for names in drawn.values() for name in names}
    profiles = _profiles(entries, wanted)
    if absent := len(wanted - set(profiles)):
        raise InputError(f"{absent} of {len(wanted)} people who were drawn have no entries here")
    with (
        replace_when_done(path, private=True) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        write = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
        write.writerow(COLUMNS)
        for topic, names in drawn.items():
            write.writerows((name, topic, "", "", sheet_cell("\n".join(profiles[name]))) for name in names)
    return sum(map(len, drawn.values()))


def _profiles(entries: EmbeddedTable | pa.Table, wanted: set[str]) -> dict[str, list[str]]:
    """What each of them wrote, oldest first, a line an entry."""
    held = list(entries.column_names if isinstance(entries, pa.Table) else entries.columns)
    kind = next(((person, words) for person, words in KINDS if person in held and words in held), None)
    if kind is None:
        raise InputError("entries need author_id and text, or client_id and user_query")
    person, words = kind
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    names = pa.array(sorted(wanted), pa.large_string())
    for batch in _batches(entries):
        mine: Any = pa.Table.from_batches([batch])
        mine = mine.filter(pc.is_in(mine[person].cast(pa.large_string()), names))
        for row in mine.to_pylist():
            told = " ".join(str(row[name]) for name in ("title", words) if row.get(name))
            when = str(row["timestamp"])[:10] if row.get("timestamp") else ""
            found[str(row[person])].append(
                (str(row.get("timestamp") or ""), f"{when} {' '.join(told.split())}".strip())
            )
    # A query stands in a log once for the question and once for every click.
    return {name: list(dict.fromkeys(line for _, line in sorted(lines))) for name, lines in found.items()}


def _batches(entries: EmbeddedTable | pa.Table) -> Iterator[pa.RecordBatch]:
    yield from entries.to_batches() if isinstance(entries, pa.Table) else entries.batches()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileJudgements:
    """Judged profiles, as a table of people by topics."""

    people: tuple[str, ...] = field(repr=False)
    """Who was judged on any topic, in the order of the file."""
    topics: tuple[str, ...]
    """What was judged, in the order of the file."""
    grades: Floats = field(repr=False)
    """Mean relevance, a row a person and a column a topic; not a number where nobody judged."""
    sensitive: Flags = field(repr=False)
    """Whether judges find the person sensitive; false where nobody judged."""
    kappa: float
    """Agreement of the judges (Fleiss)."""
    judges: int

    @classmethod
    def read(cls, path: str, *, rule: Rule = "mean") -> Self:
        """Read files of judgements (a name or a pattern); InputError with all problems that they have."""
        return cls.of_items(read_judged(path, ("author_id", "topic"), also=NAMES), rule=rule)

    @classmethod
    def of_items(cls, judged: JudgedItems, *, rule: Rule = "mean") -> Self:
        """From items that are named by a person and a topic."""
        if rule not in ("mean", "majority"):
            raise InputError(f"{rule!r} is no rule", hint="take mean or majority")
        people = {person: row for row, person in enumerate(dict.fromkeys(item[0] for item in judged.items))}
        topics = {topic: column for column, topic in enumerate(dict.fromkeys(item[1] for item in judged.items))}
        grades = np.full((len(people), len(topics)), np.nan)
        sensitive = np.zeros(grades.shape, dtype=np.bool_)
        holds = judged.means > 0.5 if rule == "mean" else 2 * judged.positive > judged.judged
        for (person, topic), grade, is_so in zip(judged.items, judged.means, holds, strict=True):
            grades[people[person], topics[topic]] = grade
            sensitive[people[person], topics[topic]] = is_so
        return cls(
            people=tuple(people),
            topics=tuple(topics),
            grades=grades,
            sensitive=sensitive,
            kappa=judged.kappa,
            judges=judged.judges,
        )

    def among(self, ids: Sequence[str]) -> tuple[Floats, Flags, int]:
        """Grades and sensitivity in the order of these people, and how many judged profiles are of none of them."""
        rows = {person: row for row, person in enumerate(self.people)}
        places = np.array([rows.get(person, -1) for person in ids], dtype=np.int64)
        known = places >= 0
        grades = np.full((len(ids), len(self.topics)), np.nan)
        sensitive = np.zeros(grades.shape, dtype=np.bool_)
        grades[known], sensitive[known] = self.grades[places[known]], self.sensitive[places[known]]
        unknown = int(np.isfinite(self.grades).sum() - np.isfinite(grades).sum())
        return grades, sensitive, unknown

"""What judges say about topics: whether each is sensitive, and to which domain it belongs.

As in the thesis (section 6.5) a judge sees the telling words of a topic and answers two questions: can a post with
these words be sensitive, and which domain does the topic belong to. A file of judgements is a CSV table with a row for
each topic and judge and the columns topic, judge, sensitive (yes or no) and domain, which may be blank. Agreement
is Fleiss' kappa; in the thesis it was low (0.16 to 0.29), and still many topics were unanimous.

The majority of judges decides; a tie counts as sensitive, since what is wrongly kept out is never looked at again.

Kappa is (observed - expected) / (1 - expected) agreement. Observed is the share of pairs of judges of the same item who
chose the same category, averaged over items; expected is what judges who choose blindly, by the overall shares of the
categories, would agree by chance (Fleiss 1971). 1 is full agreement, 0 is no more than chance, less is worse.

Where items have different numbers of judges, the generalisation for missing ratings is taken that Gwet describes
(Handbook of Inter-Rater Reliability, 2014): observed agreement is averaged over the items with at least two judges, and
the share of a category is the mean over all judged items of its share within the item. With equal numbers it is Fleiss'
own. Kappa does not say whether judges are right, and it is low where one category is rare.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from aidos.engine.files import write_text
from aidos.errors import InputError, ParameterError
from aidos.model.rows import Troubles, read_rows
from aidos.model.sensitive import DOMAINS, TopicSet

__all__ = ["COLUMNS", "Annotations", "Judgement", "fleiss_kappa", "read_annotations", "write_annotations"]

COLUMNS = ("topic", "judge", "sensitive", "domain")
YES = ("yes", "y", "true", "1")
NO = ("no", "n", "false", "0")
MAJORITY = 0.5
"""From this share of judges on a topic is sensitive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one judge says about one topic."""

    topic: str
    judge: str
    sensitive: bool
    """Whether a post with the words of the topic can be sensitive."""
    domain: str = ""
    """The domain it belongs to; empty where the judge did not say."""

    def __post_init__(self) -> None:
        if not self.topic.strip() or not self.judge.strip():
            raise ParameterError("Judgement: a topic and a judge are needed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """Judgements of topics, at most one for each topic and judge."""

    judgements: tuple[Judgement, ...]

    def __post_init__(self) -> None:
        pairs = {(judgement.topic, judgement.judge) for judgement in self.judgements}
        if len(pairs) < len(self.judgements):
            raise ParameterError("a judge has more than one judgement of the same topic", hint="keep one of them")

    def __len__(self) -> int:
        return len(self.judgements)

    @property
    def judges(self) -> tuple[str, ...]:
        """Who judged, in the order of appearance."""
        return tuple(dict.fromkeys(judgement.judge for judgement in self.judgements))

    @property
    def topics(self) -> tuple[str, ...]:
        """What was judged, in the order of appearance."""
        return tuple(dict.fromkeys(judgement.topic for judgement in self.judgements))

    def kappa(self) -> float:
        """Agreement on whether topics are sensitive; InputError where no topic has two judges."""
        return _kappa([(judgement.topic, str(judgement.sensitive)) for judgement in self.judgements])

    def domain_kappa(self) -> float:
        """Agreement on domains, among the judges who named one."""
        return _kappa([(judgement.topic, judgement.domain) for judgement in self.judgements if judgement.domain])

    def majority(self, candidates: TopicSet) -> TopicSet:
        """The candidates that most of their judges call sensitive, and those nobody judged that were sensitive before.

        A judged topic's sensitivity is the share of its judges who say so. Its domain is the one that most of them
        name, among equals the first in the order of `DOMAINS`; it keeps its own where nobody names one.
        """
        for name in self.topics:
            candidates.find(name)
        votes: dict[str, list[Judgement]] = defaultdict(list)
        for judgement in self.judgements:
            votes[judgement.topic].append(judgement)
        found = []
        for topic in candidates:
            given = votes.get(topic.name)
            share = sum(vote.sensitive for vote in given) / len(given) if given else topic.sensitive
            if share >= MAJORITY if given else share > 0:
                domain = _domain([vote.domain for vote in given or ()]) or topic.domain
                found.append(replace(topic, sensitive=share, domain=domain))
        if not found:
            raise InputError("by these judgements no topic is sensitive", hint="judge more topics")
        return TopicSet(topics=tuple(found))


def read_annotations(path: str | Path) -> Annotations:
    """The judgements of a CSV file; InputError with all problems that it has."""
    troubles = Troubles(str(path))
    found: dict[tuple[str, str], Judgement] = {}
    for line, cells in read_rows(Path(path), COLUMNS, troubles, delimiter=","):
        judgement = _judgement(cells, line, troubles)
        if judgement is None:
            continue
        place = judgement.topic, judgement.judge
        if place in found:
            troubles.add(line, "repeated-judgement", "the judge has a row for this topic already", "judge")
        found[place] = judgement
    troubles.refuse()
    if not found:
        raise InputError(f"{path} has no judgement", hint="write a row for each topic and judge below the header")
    return Annotations(judgements=tuple(found.values()))


def write_annotations(annotations: Annotations, path: str | Path) -> None:
    """Write judgements so that `read_annotations` gives the same ones, for their owner's eyes only."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(COLUMNS)
    for judgement in annotations.judgements:
        said = "yes" if judgement.sensitive else "no"
        writer.writerow((judgement.topic, judgement.judge, said, judgement.domain))
    write_text(Path(path), made.getvalue(), private=True)


def _judgement(cells: dict[str, str], line: int, troubles: Troubles) -> Judgement | None:
    said = cells["sensitive"].lower()
    blank = [name for name in ("topic", "judge") if not cells[name]]
    for name in blank:
        troubles.add(line, "empty-cell", f"{name} is blank", name)
    if said not in (*YES, *NO):
        troubles.add(line, "bad-answer", "sensitive is neither yes nor no", "sensitive")
    elif not blank:
        return Judgement(
            topic=cells["topic"], judge=cells["judge"], sensitive=said in YES, domain=cells["domain"].lower()
        )
    return None


def _domain(named: Sequence[str]) -> str:
    counts = Counter(name for name in named if name)
    order = {name: place for place, name in enumerate(DOMAINS)}
    return min(counts, key=lambda name: (-counts[name], order.get(name, len(DOMAINS)), name), default="")


def _kappa(answers: Sequence[tuple[str, str]]) -> float:
    topics = list(dict.fromkeys(topic for topic, _ in answers))
    values = sorted({value for _, value in answers})
    counts = Counter(answers)
    return fleiss_kappa([[counts[topic, value] for value in values] for topic in topics] or [[0]])


def fleiss_kappa(counts: ArrayLike) -> float:
    """Kappa of counts: a row an item, a column a category, how many judges put the item there.

    Not a number where chance alone would make all agree: everybody always chose the same category.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not (np.isfinite(table).all() and (table >= 0).all() and (table == np.floor(table)).all()):
        raise InputError("counts of judges must be whole numbers, not negative: a row an item, a column a category")
    judges = table.sum(axis=1)
    table, judges = table[judges > 0], judges[judges > 0]
    several = judges > 1
    if not several.any():
        raise InputError("no item has two judges, so nothing can be said about agreement")
    pairs = judges[several] * (judges[several] - 1)
    observed = float((((table[several] * (table[several] - 1)).sum(axis=1)) / pairs).mean())
    shares = (table / judges[:, None]).mean(axis=0)
    expected = float(shares @ shares)
    if np.count_nonzero(shares) == 1:
        return float("nan")
    return (observed - expected) / (1 - expected)

"""Ranks for people to read: a community is ranked, and those who stand first are shown with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import ParameterError
from aidos.jobs.desk import Desk
from aidos.report.values import Value
from aidos.rooms.risk.arrivals import in_order
from aidos.rooms.risk.directory import RiskDirectory
from aidos.rooms.risk.history import find_intervals
from aidos.rooms.risk.keywords import KeywordRisk
from aidos.rooms.risk.measure import BaselineRisk
from aidos.rooms.risk.measures import RiskMeasure, RiskQuestion, TopicalRisk
from aidos.rooms.risk.models import Knowledge, choose_topics
from aidos.rooms.risk.people import People, PeopleFacts, read_people
from aidos.rooms.risk.ranking import CommunityRanking, Everybody, RiskRanking, everybodys_risks
from aidos.rooms.risk.ranks import Bootstrap, RankInterval, percentiles, rank_people
from aidos.rooms.risk.state import RiskState

__all__ = [
    "RANK_COLUMNS",
    "SUMMARY_COLUMNS",
    "Placed",
    "Ranked",
    "Summary",
    "first_places",
    "rank_community",
    "rank_rows",
    "summarise",
    "summary_rows",
]

RANK_COLUMNS = ("topic", "measure", "rank", "person", "risk", "nearness", "percentile", "90 % of redrawn histories")
SUMMARY_COLUMNS = ("measure", "topics", "somebody is near", "people near one", "highest risk", "for")
DRAWN = Bootstrap(resamples=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A community that was ranked."""

    state: RiskState
    people: People
    left_out: tuple[str, ...]
    """Topics that nobody speaks of, where they may be left out."""

    @property
    def facts(self) -> PeopleFacts:
        """Counts that a reader should know."""
        return self.people.facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Somebody who stands among the first."""

    topic: str
    measure: str
    person: str
    risk: float
    nearness: float | None
    """How near her nearest entry comes to the topic; None for measures that compare no entries."""
    rank: int
    equal: int
    """How many have the same risk, herself among them."""
    percentile: float
    interval: RankInterval


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one measure found, over all topics."""

    measure: str
    topics: int
    near: int
    """Topics that somebody comes near to."""
    people: int
    """People who come near to at least one of them."""
    highest: float | None
    """The highest risk of those who are near; None where nobody is."""
    topic: str | None
    """Of which topic."""
    unheard: tuple[str, ...]
    """Topics that nobody comes near to."""


def rank_community(
    entries: EmbeddedTable,
    ranking: RiskRanking,
    knowledge: Knowledge,
    desk: Desk,
    *,
    leave_out: bool = False,
) -> Ranked:
    """Rank everybody who has an entry; all topics that can be measured unless some are named.

    Named topics that nobody speaks of are refused, or left out if that is wanted.
    """
    measures = ranking.chosen()
    topics = choose_topics(ranking.topics, knowledge, measures)
    if not topics:
        raise ParameterError(
            "the models know none of these topics",
            hint="see where they are found: aidos risk topics; or choose a measure in the space bow",
        )
    people = read_people(entries, analyser=knowledge.analyser(measures))
    heard = topics if ranking.topics and not leave_out else _heard(topics, knowledge, measures, people)
    asked = RiskRanking(topics=heard or topics, measures=ranking.measures)
    question = RiskQuestion(people=people, topics=asked.topics, models=knowledge.models())
    state = asked.rank(CommunityRanking(question=question, threads=desk.threads, progress=desk.progress))
    left_out = tuple(topic for topic in topics if topic not in state.plan.topics)
    return Ranked(state=state, people=people, left_out=left_out)


def first_places(directory: RiskDirectory, ranked: Ranked, engine: EmbeddedEngine, *, top: int) -> list[Placed]:
    """Those who stand first, by topic and measure, each with the interval of her rank; nobody without evidence."""
    state = ranked.state
    chosen: list[Placed] = []
    intervals = _Intervals(directory, ranked, engine)
    for found in everybodys_risks(state):
        ranks, shares, risks = rank_people(found.risks), percentiles(found.risks), found.risks
        near = [row for row in np.argsort(ranks, kind="stable").tolist() if found.evidence[row]]
        for row in near[:top]:
            placed = Placed(
                topic=found.topic,
                measure=str(found.measure),
                person=state.register.ids[row],
                risk=float(risks[row]),
                nearness=None if found.nearness is None else float(found.nearness[row]),
                rank=int(ranks[row]),
                equal=int((risks == risks[row]).sum()),
                percentile=float(shares[row]),
                interval=intervals.of(row, found),
            )
            chosen.append(placed)
    return chosen


def summarise(state: RiskState) -> list[Summary]:
    """What each measure found, in a line."""
    found: list[Summary] = []
    for measure in state.plan.measures:
        risks, near = state.all_risks(measure), state.evidence(measure)[1]
        shown = np.where(near, risks, -np.inf)
        best = int(shown.max(axis=0).argmax())
        highest = float(shown[:, best].max())
        found.append(
            Summary(
                measure=str(measure),
                topics=len(state.plan.topics),
                near=int(near.any(axis=0).sum()),
                people=int(near.any(axis=1).sum()),
                highest=highest if near.any() else None,
                topic=state.plan.topics[best] if near.any() else None,
                unheard=tuple(topic for at, topic in enumerate(state.plan.topics) if not near[:, at].any()),
            )
        )
    return found


def rank_rows(placed: Sequence[Placed]) -> list[tuple[Value, ...]]:
    """Rows under RANK_COLUMNS."""
    return [
        (
            each.topic,
            each.measure.partition(":")[0],
            each.rank if each.equal == 1 else f"{each.rank} (shared by {each.equal})",
            each.person,
            each.risk,
            None if each.nearness is None else float(f"{each.nearness:.3g}"),
            f"{100 * each.percentile:.1f}",
            f"rank {each.interval.low:.0f} to {each.interval.high:.0f}",
        )
        for each in placed
    ]


def summary_rows(summaries: Sequence[Summary]) -> list[tuple[Value, ...]]:
    """Rows under SUMMARY_COLUMNS."""
    return [
        (each.measure.partition(":")[0], each.topics, each.near, each.people, each.highest, each.topic)
        for each in summaries
    ]


class _Intervals:
    """Intervals of ranks, found once for each person."""

    def __init__(self, directory: RiskDirectory, ranked: Ranked, engine: EmbeddedEngine) -> None:
        self._directory, self._ranked, self._engine = directory, ranked, engine
        self._found: dict[int, dict[tuple[RiskMeasure, str], RankInterval]] = {}

    def of(self, row: int, found: Everybody) -> RankInterval:
        state, people = self._ranked.state, self._ranked.people
        if found.measure in state.plan.others:
            # Of these only the measure knows what other entries would give; it may ask for those of everybody.
            question = RiskQuestion(people=people, topics=(found.topic,), models=state.plan.models)
            return DRAWN.intervals(found.measure, question, row, found.risks[:, None])[0]
        if row not in self._found:
            person = state.register.ids[row]
            mine = in_order(self._directory.read(self._directory.entries(self._engine, state, person), state))
            self._found[row] = find_intervals(state, person, mine, DRAWN)
        return self._found[row][found.measure, found.topic]


def _heard(
    topics: Sequence[str], knowledge: Knowledge, measures: Sequence[RiskMeasure], people: People
) -> tuple[str, ...]:
    """Without those that no measure by words can tell anything about, since nobody uses their words."""
    by_words = [
        measure
        for measure in measures
        if isinstance(measure, BaselineRisk | KeywordRisk)
        or (isinstance(measure, TopicalRisk) and measure.space == "bow")
    ]
    if not by_words:
        return tuple(topics)
    known = knowledge.topics
    terms = {name: list(known[known.find(name)].analysed(people.analyser)) for name in topics}
    return tuple(name for name, own in terms.items() if own and (people.vocabulary.ids(own) >= 0).any())

"""Ranks for people to read: a community is ranked, and those who stand first are shown with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aidos.app.risk.directory import RiskDirectory, everybodys_risks
from aidos.app.risk.knowledge import Knowledge, choose_topics
from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.exposure.risk.arrivals import in_order
from aidos.exposure.risk.history import find_intervals
from aidos.exposure.risk.measures import RiskMeasure, RiskQuestion, TopicalRisk
from aidos.exposure.risk.people import People, PeopleFacts, read_people
from aidos.exposure.risk.ranks import Bootstrap, RankInterval, percentiles, rank_people
from aidos.exposure.risk.state import RiskState

__all__ = ["RANK_COLUMNS", "Placed", "Ranked", "first_places", "rank_community", "rank_rows"]

RANK_COLUMNS = ("topic", "measure", "rank", "person", "risk", "percentile", "90 % of redrawn histories")
DRAWN = Bootstrap(resamples=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A community that was ranked."""

    state: RiskState
    facts: PeopleFacts
    left_out: tuple[str, ...]
    """Topics that nobody speaks of, where they may be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Somebody who stands among the first."""

    topic: str
    measure: str
    person: str
    risk: float
    rank: int
    equal: int
    """How many have the same risk, herself among them."""
    percentile: float
    interval: RankInterval


def rank_community(
    entries: EmbeddedTable,
    names: Sequence[str],
    measures: Sequence[RiskMeasure],
    knowledge: Knowledge,
    *,
    leave_out: bool = False,
    threads: int | None,
    progress: Progress,
) -> Ranked:
    """Rank everybody who has an entry; all topics that can be measured unless some are named.

    Named topics that nobody speaks of are refused, or left out if that is wanted.
    """
    topics = choose_topics(names, knowledge, measures)
    people = read_people(entries, analyser=knowledge.analyser(measures))
    heard = topics if names and not leave_out else _heard(topics, knowledge, measures, people)
    question = RiskQuestion(people=people, topics=heard or topics, models=knowledge.models())
    state = RiskState.of(question, measures, threads=threads, progress=progress)
    left_out = tuple(topic for topic in topics if topic not in state.plan.topics)
    return Ranked(state=state, facts=people.facts, left_out=left_out)


def first_places(directory: RiskDirectory, state: RiskState, engine: EmbeddedEngine, *, top: int) -> list[Placed]:
    """Those who stand first, by topic and measure, each with the interval of her rank."""
    chosen: list[tuple[str, RiskMeasure, int, float, int, float]] = []
    for topic, measure, risks in everybodys_risks(state):
        ranks, shares = rank_people(risks), percentiles(risks)
        first = np.argsort(ranks, kind="stable")[:top].tolist()
        chosen += [(topic, measure, row, float(risks[row]), int(ranks[row]), float(shares[row])) for row in first]
    intervals: dict[int, dict[tuple[RiskMeasure, str], RankInterval]] = {}
    for row in dict.fromkeys(row for _, _, row, *_ in chosen):
        person = state.register.ids[row]
        mine = in_order(directory.person(directory.entries(engine, state, person), state))
        intervals[row] = find_intervals(state, person, mine, DRAWN)
    return [
        Placed(
            topic=topic,
            measure=str(measure),
            person=state.register.ids[row],
            risk=risk,
            rank=rank,
            equal=_equal(state, topic, measure, risk),
            percentile=share,
            interval=intervals[row][measure, topic],
        )
        for topic, measure, row, risk, rank, share in chosen
    ]


def rank_rows(placed: Sequence[Placed]) -> list[tuple[str | int | float | None, ...]]:
    """Rows under RANK_COLUMNS."""
    return [
        (
            each.topic,
            each.measure.partition(":")[0],
            each.rank if each.equal == 1 else f"{each.rank} (shared by {each.equal})",
            each.person,
            round(each.risk, 4),
            f"{100 * each.percentile:.1f}",
            f"rank {each.interval.low:.0f} to {each.interval.high:.0f}",
        )
        for each in placed
    ]


def _equal(state: RiskState, topic: str, measure: RiskMeasure, risk: float) -> int:
    ordered = state.ordered(topic, measure)
    return int(np.searchsorted(ordered, risk, side="right") - np.searchsorted(ordered, risk, side="left"))


def _heard(
    topics: Sequence[str], knowledge: Knowledge, measures: Sequence[RiskMeasure], people: People
) -> tuple[str, ...]:
    """Without those that no measure by words can tell anything about, since nobody uses their words."""
    if all(isinstance(measure, TopicalRisk) and measure.space != "bow" for measure in measures):
        return tuple(topics)
    known = knowledge.topics
    terms = {name: list(known[known.find(name)].analysed(people.analyser)) for name in topics}
    return tuple(name for name, own in terms.items() if own and (people.vocabulary.ids(own) >= 0).any())

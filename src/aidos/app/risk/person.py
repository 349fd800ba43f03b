"""One person's ranks for her to read: what is found becomes a story, with her own posts beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from aidos.app.excerpts import excerpt
from aidos.app.risk.directory import RiskDirectory
from aidos.core.mechanism import Finding
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.exposure.risk.measures import RiskMeasure
from aidos.exposure.risk.personal import Alert, DraftEffect, PersonalReport, TopicRank, find_draft, find_person
from aidos.exposure.risk.reasons import Reason, TellingWord
from aidos.exposure.risk.state import RiskState
from aidos.report.riskpage import Quotation, Quotations, RiskStory

__all__ = ["Asking", "look_up_person", "person_values"]

FAINT = 0.1
"""Entries and words with less than this part of the weight of the first explain nothing."""
MOST = 6
"""Entries that are shown of one topic and measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What she wants to know."""

    topics: tuple[str, ...] = ()
    """All that are kept, where none are named."""
    measures: tuple[RiskMeasure, ...] = ()
    """The same."""
    top: int = 10
    """How many topics are shown by each measure, the most exposed first."""
    alert: float | None = None
    """The percentile to be warned from, from 0 to 1."""
    draft: str | None = None
    """A text before it is posted."""


def look_up_person(
    directory: RiskDirectory,
    state: RiskState,
    engine: EmbeddedEngine,
    person_id: str,
    asking: Asking,
    *,
    command: str = "",
) -> Finding[RiskStory]:
    """Everything that her page tells."""
    for topic in asking.topics:
        state.plan.find_topic(topic)
    for measure in asking.measures:
        state.plan.check_measure(measure)
    entries = directory.entries(engine, state, person_id)
    alert = None if asking.alert is None else Alert(percentile=asking.alert)
    found = find_person(state, directory.person(entries, state), alert=alert)
    report = replace(found.value, ranks=_shown(found.value, asking))
    effects = () if asking.draft is None else find_draft(state, person_id, asking.draft, when=_now(), alert=alert).value
    story = RiskStory(
        report=report,
        quotations=_quotations(entries, state, report),
        command=command,
        threshold=asking.alert,
        draft=_in_order(effects, report, asking),
    )
    return Finding(value=story, about=found.about)


def person_values(story: RiskStory) -> dict[str, object]:
    """The same for machines."""
    report = story.report
    return {
        "person": report.person,
        "entries": report.entries,
        "people": report.people,
        "ranks": [_rank_values(rank) for rank in report.ranks],
        "draft": [
            {
                "topic": effect.topic,
                "measure": str(effect.measure),
                "before": None if effect.before is None else effect.before.best,
                "after": effect.after.best,
                "percentile": effect.after.percentile,
                "crosses": effect.alert,
            }
            for effect in story.draft
        ],
    }


def _rank_values(rank: TopicRank) -> dict[str, object]:
    standing, interval = rank.standing, rank.interval
    return {
        "topic": rank.topic,
        "measure": str(rank.measure),
        "risk": standing.risk,
        "rank": standing.best,
        "rank_worst": standing.worst,
        "percentile": standing.percentile,
        "interval": None if interval is None else [interval.low, interval.high],
        "percentile_interval": None if interval is None else [interval.percentile_low, interval.percentile_high],
        "alert": rank.alert,
        "posts": [
            {"post": reason.entry, "nearness": reason.weight, "words": [each.word for each in reason.words]}
            for reason in rank.reasons
        ],
        "history": [
            {"week": f"{stage.begins:%Y-%m-%d}", "percentile": stage.standing.percentile} for stage in rank.history
        ],
    }


def _shown(report: PersonalReport, asking: Asking) -> tuple[TopicRank, ...]:
    """What she asked for, by measure, the most exposed first."""
    asked = [rank for rank in report.ranks if not asking.topics or rank.topic in asking.topics]
    measures = asking.measures or tuple(dict.fromkeys(rank.measure for rank in asked))
    shown: list[TopicRank] = []
    for measure in measures:
        own = [rank for rank in asked if rank.measure == measure]
        own.sort(key=lambda rank: (-rank.standing.percentile, -rank.standing.risk, rank.topic))
        shown += own[: asking.top]
        shown += [rank for rank in own[asking.top :] if rank.alert]
    return tuple(replace(rank, reasons=_telling(rank)) for rank in shown)


def _telling(rank: TopicRank) -> tuple[Reason, ...]:
    """The entries that count for something beside the first, and no more than can be read."""
    least = FAINT * max((reason.weight for reason in rank.reasons), default=0.0)
    kept = [reason for reason in rank.reasons if reason.weight >= least][:MOST]
    return tuple(replace(reason, words=_counting(reason)) for reason in kept)


def _counting(reason: Reason) -> tuple[TellingWord, ...]:
    """The words that count for something beside the first."""
    least = FAINT * max((each.weight for each in reason.words), default=0.0)
    return tuple(each for each in reason.words if each.weight >= least)


def _in_order(effects: Sequence[DraftEffect], report: PersonalReport, asking: Asking) -> tuple[DraftEffect, ...]:
    """What a draft does to what is shown, and to whatever else it moves up, the farthest first."""
    shown = {(rank.topic, rank.measure) for rank in report.ranks}
    asked = [
        effect
        for effect in effects
        if (not asking.topics or effect.topic in asking.topics)
        and (not asking.measures or effect.measure in asking.measures)
    ]
    moved = [effect for effect in asked if effect.alert or (effect.topic, effect.measure) in shown or effect.places > 0]
    moved.sort(key=lambda effect: (not effect.alert, -effect.places, effect.topic))
    return tuple(moved[: max(asking.top, sum(effect.alert for effect in moved))])


def _quotations(entries: EmbeddedTable, state: RiskState, report: PersonalReport) -> Quotations:
    """The posts that are shown, each with the words marked that count for the topic."""
    shown = [(rank, reason) for rank in report.ranks for reason in rank.reasons]
    if not shown:
        return {}
    wanted = ", ".join(quote_text(name) for name in dict.fromkeys(reason.entry for _, reason in shown))
    rows = entries.rows(
        "select post_id, timestamp, concat_ws(' ', nullif(title, ''), text) from {table} "
        f"where post_id in ({wanted}) order by timestamp desc"
    )
    texts = {str(name): (_day(time), str(text)) for name, time, text in rows}
    found = {}
    for rank, reason in shown:
        when, text = texts.get(reason.entry, ("", ""))
        pieces = excerpt(text, state.plan.analyser, {each.word for each in reason.words})
        found[rank.topic, rank.measure, reason.entry] = Quotation(when=when, pieces=pieces)
    return found


def _now() -> datetime:
    return datetime.now(UTC)


def _day(time: object) -> str:
    return f"{time:%Y-%m-%d}" if isinstance(time, datetime) else ""

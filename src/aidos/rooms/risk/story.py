"""One person's ranks for her to read: what is found becomes a story, with her own posts beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from aidos.core.mechanism import Finding
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.errors import ParameterError
from aidos.model.text.excerpts import excerpt, written_forms
from aidos.rooms.risk.directory import RiskDirectory
from aidos.rooms.risk.measures import RiskMeasure
from aidos.rooms.risk.page import Quotation, Quotations, RiskStory
from aidos.rooms.risk.personal import Alert, DraftEffect, PersonalReport, TopicRank, find_draft, find_person
from aidos.rooms.risk.reasons import Reason, TellingWord
from aidos.rooms.risk.state import RiskState

__all__ = ["Asking", "look_up_person", "person_values"]

Texts: TypeAlias = dict[str, tuple[str, str]]
"""Day and text of posts, by their names."""
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
    command: str = ""
    """How she asked, for her page."""


def look_up_person(
    directory: RiskDirectory,
    state: RiskState,
    engine: EmbeddedEngine,
    person_id: str,
    asking: Asking,
) -> Finding[RiskStory]:
    """Everything that her page tells."""
    for topic in asking.topics:
        state.plan.find_topic(topic)
    for measure in asking.measures:
        state.plan.check_measure(measure)
    _refuse_draft(state, asking)
    entries = directory.entries(engine, state, person_id)
    alert = None if asking.alert is None else Alert(percentile=asking.alert)
    found = find_person(state, directory.read(entries, state), alert=alert)
    report = replace(found.value, ranks=_shown(found.value, asking))
    texts = _texts(entries, report)
    draft = None
    if asking.draft is not None:
        effects = find_draft(state, person_id, asking.draft, when=_now(), alert=alert).value
        draft = _in_order(effects, report, asking)
    story = RiskStory(
        report=_worded(report, state, texts),
        quotations=_quotations(state, report, texts),
        command=asking.command,
        threshold=asking.alert,
        draft=draft,
    )
    return Finding(value=story, about=found.about)


def _refuse_draft(state: RiskState, asking: Asking) -> None:
    asked = asking.measures or state.plan.measures
    if asking.draft is not None and all(measure in state.plan.others for measure in asked):
        raise ParameterError(
            f"{asked[0].name} cannot say what a draft would do: it is computed from the entries of everybody",
            hint="leave the draft out, or rank by lda-dt or entropy as well",
        )


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
                "nearness": effect.nearness,
                "evidence": effect.after.has_evidence,
                "crosses": effect.alert,
            }
            for effect in story.draft or ()
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
        "nearness": standing.nearness,
        "evidence": standing.has_evidence,
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
    """What she asked for, by measure: what there is evidence for first, of that the most exposed first."""
    asked = [rank for rank in report.ranks if not asking.topics or rank.topic in asking.topics]
    measures = asking.measures or tuple(dict.fromkeys(rank.measure for rank in asked))
    shown: list[TopicRank] = []
    for measure in measures:
        own = [rank for rank in asked if rank.measure == measure]
        own.sort(
            key=lambda rank: (
                not rank.standing.has_evidence,
                -rank.standing.percentile,
                -rank.standing.risk,
                rank.topic,
            )
        )
        shown += own[: asking.top]
        shown += [rank for rank in own[asking.top :] if rank.alert]
    return tuple(replace(rank, reasons=_telling(rank)) for rank in shown)


def _telling(rank: TopicRank) -> tuple[Reason, ...]:
    """The entries that count for something beside the first, and no more than can be read; none without evidence."""
    if not rank.standing.has_evidence:
        return ()
    least = FAINT * max((reason.weight for reason in rank.reasons), default=0.0)
    kept = [reason for reason in rank.reasons if reason.weight >= least][:MOST]
    return tuple(replace(reason, words=_counting(reason)) for reason in kept)


def _counting(reason: Reason) -> tuple[TellingWord, ...]:
    """The words that count for something beside the first."""
    least = FAINT * max((each.weight for each in reason.words), default=0.0)
    return tuple(each for each in reason.words if each.weight >= least)


def _in_order(effects: Sequence[DraftEffect], report: PersonalReport, asking: Asking) -> tuple[DraftEffect, ...]:
    """What a draft does to what she is near, and to whatever else it is near and moves up, the farthest first."""
    shown = {(rank.topic, rank.measure) for rank in report.ranks}
    asked = [
        effect
        for effect in effects
        if (not asking.topics or effect.topic in asking.topics)
        and (not asking.measures or effect.measure in asking.measures)
    ]
    moved = [
        effect
        for effect in asked
        if effect.alert
        or ((effect.topic, effect.measure) in shown and effect.after.has_evidence)
        or (effect.places > 0 and effect.nearness > effect.after.least_nearness)
    ]
    moved.sort(key=lambda effect: (not effect.alert, -effect.places, effect.topic))
    return tuple(moved[: max(asking.top, sum(effect.alert for effect in moved))])


def _texts(entries: EmbeddedTable, report: PersonalReport) -> Texts:
    """Day and text of the posts that are shown, by name."""
    names = dict.fromkeys(reason.entry for rank in report.ranks for reason in rank.reasons)
    if not names:
        return {}
    wanted = ", ".join(map(quote_text, names))
    rows = entries.rows(
        "select post_id, timestamp, concat_ws(' ', nullif(title, ''), text) from {table} "
        f"where post_id in ({wanted}) order by timestamp desc"
    )
    return {str(name): (_day(time), str(text)) for name, time, text in rows}


def _worded(report: PersonalReport, state: RiskState, texts: Texts) -> PersonalReport:
    """The same with words as she wrote them, where the measures have stems."""
    terms = {each.word for rank in report.ranks for reason in rank.reasons for each in reason.words}
    forms = written_forms((text for _, text in texts.values()), state.plan.analyser, terms)

    def worded(reason: Reason) -> Reason:
        return replace(reason, words=tuple(replace(each, word=forms[each.word]) for each in reason.words))

    ranks = (replace(rank, reasons=tuple(map(worded, rank.reasons))) for rank in report.ranks)
    return replace(report, ranks=tuple(ranks))


def _quotations(state: RiskState, report: PersonalReport, texts: Texts) -> Quotations:
    """The posts that are shown, each with the words marked that count for the topic."""
    found = {}
    for rank in report.ranks:
        for reason in rank.reasons:
            when, text = texts.get(reason.entry, ("", ""))
            pieces = excerpt(text, state.plan.analyser, {each.word for each in reason.words})
            found[rank.topic, rank.measure, reason.entry] = Quotation(when=when, pieces=pieces)
    return found


def _now() -> datetime:
    return datetime.now(UTC)


def _day(time: object) -> str:
    return f"{time:%Y-%m-%d}" if isinstance(time, datetime) else ""

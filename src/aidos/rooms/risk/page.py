"""A person's own page: where she ranks when somebody looks for the vulnerable, why, and how it came.

It is for her and for nobody else: a finding, whatever her posts say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from aidos.core.mechanism import Finding
from aidos.report.charts import bar, line
from aidos.report.page import Block, Callout, Card, Chapter, Code, DataTable, Figure, Page, Prose
from aidos.report.values import Value
from aidos.rooms.risk.history import Stage
from aidos.rooms.risk.kept.standing import Standing
from aidos.rooms.risk.measure import RiskMeasure, TopicalRisk
from aidos.rooms.risk.personal import DraftEffect, PersonalReport, TopicRank
from aidos.rooms.risk.reasons import Reason

__all__ = [
    "DRAFT_CHANGES_NOTHING",
    "DRAFT_COLUMNS",
    "NO_EVIDENCE",
    "REASON_COLUMNS",
    "STANDING_COLUMNS",
    "Quotation",
    "Quotations",
    "RiskStory",
    "draft_rows",
    "reason_cards",
    "reason_rows",
    "risk_page",
    "standing_rows",
    "trend_figure",
]

STANDING_COLUMNS = ("topic", "measure", "rank", "percentile", "of redrawn histories", "risk")
DRAFT_COLUMNS = ("topic", "measure", "rank now", "rank with the draft", "percentile with the draft", "your threshold")
REASON_COLUMNS = ("topic", "measure", "post", "nearness", "words")
NO_EVIDENCE = "no evidence"
"""What is said in place of a rank where nothing of hers is near the topic."""
DRAFT_CHANGES_NOTHING = "The draft is near none of these topics, and changes no rank that says anything"
LINES = 5
"""Topics whose history is drawn."""
CARDS = 3
"""Topics whose posts are shown."""
ABOUT_RANKS = (
    "Somebody who looks for the vulnerable orders all members by how near their posts come to a sensitive topic, and "
    "takes the first. Your rank is your place in that order; rank 1 is found first. The percentile is the share of the "
    "others who are less exposed. The interval says how far the rank hangs on single posts: yours are drawn again from "
    "your own many times, and the ranks of the middle 90 per cent are told. Where it says no evidence, nothing of "
    "yours is near the topic: the formula gives you a place all the same, and it means nothing."
)
ABOUT_POSTS = "Words that bring a post near to the topic are marked: without them it would be less near."
LIMITS = (
    "A high rank does not say that you are afflicted, nor a low one that you are safe. It says how early somebody who "
    "goes by words alone would come upon you, by a model of theirs that may be better or worse than this one. Doctors, "
    "students and curious people rank high as well. What to do with it is yours to decide: nothing is hidden or sent."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """A post of hers, with the telling words marked."""

    when: str
    pieces: tuple[tuple[str, bool], ...]


Quotations: TypeAlias = Mapping[tuple[str, RiskMeasure, str], Quotation]
"""Posts by topic, measure and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskStory:
    """What the page is about."""

    report: PersonalReport
    """Topics in the order to be shown, the most exposed first."""
    quotations: Quotations
    """Her posts by topic, measure and the post's name, as far as they are shown."""
    command: str
    threshold: float | None = None
    """The percentile she wants to be warned from, from 0 to 1."""
    draft: tuple[DraftEffect, ...] | None = field(default=None)
    """What a draft would do to what she or the draft is near; None without a draft."""


def risk_page(story: Finding[RiskStory]) -> Page:
    """One page for one person."""
    told = story.value
    report = told.report
    posts = "1 post or query" if report.entries == 1 else f"{report.entries:,} posts or queries"
    people = "1 person" if report.people == 1 else f"{report.people:,} people"
    chapters = [_standing(told), _posts(told), *_trend(told), *_draft(told), _limits(told)]
    return Page(
        title="Where you rank when somebody looks for the vulnerable",
        lead=f"For {report.person}: {posts}, ranked among {people}.",
        chapters=tuple(chapters),
        source=story,
    )


def standing_rows(ranks: Sequence[TopicRank]) -> list[tuple[Value, ...]]:
    """Rows under STANDING_COLUMNS."""
    return [
        (
            rank.topic,
            rank.measure.name,
            _place(rank),
            f"{100 * rank.standing.percentile:.1f}{' (above your threshold)' if rank.alert else ''}"
            if rank.standing.has_evidence
            else None,
            f"rank {rank.interval.low:.0f} to {rank.interval.high:.0f}"
            if rank.interval is not None and rank.standing.has_evidence
            else None,
            rank.standing.risk,
        )
        for rank in ranks
    ]


def reason_rows(ranks: Sequence[TopicRank]) -> list[tuple[Value, ...]]:
    """Rows under REASON_COLUMNS: the posts that put her there; baselines count words, and know no nearness."""
    return [
        (
            rank.topic,
            rank.measure.name,
            reason.entry,
            float(f"{reason.weight:.3g}") if isinstance(rank.measure, TopicalRisk) else None,
            " ".join(each.word for each in reason.words) or "no single word",
        )
        for rank in ranks
        for reason in rank.reasons
    ]


def draft_rows(effects: Sequence[DraftEffect]) -> list[tuple[Value, ...]]:
    """Rows under DRAFT_COLUMNS."""
    return [
        (
            effect.topic,
            effect.measure.name,
            None if effect.before is None else _draft_place(effect.before),
            _draft_place(effect.after),
            f"{100 * effect.after.percentile:.1f}" if effect.after.has_evidence else None,
            "crossed" if effect.alert else "",
        )
        for effect in effects
    ]


def reason_cards(ranks: Sequence[TopicRank], quotations: Quotations) -> tuple[Card, ...]:
    """The posts that put her there: a card for each topic and post, with every measure that goes by it."""
    found: dict[str, dict[str, list[tuple[TopicRank, Reason]]]] = {}
    for rank in ranks:
        for reason in rank.reasons:
            found.setdefault(rank.topic, {}).setdefault(reason.entry, []).append((rank, reason))
    return tuple(_card(going_by, quotations) for posts in found.values() for going_by in posts.values())


def _card(going_by: Sequence[tuple[TopicRank, Reason]], quotations: Quotations) -> Card:
    """One post, marked as the first of the measures has it."""
    rank, reason = going_by[0]
    quoted = quotations.get((rank.topic, rank.measure, reason.entry), Quotation(when="", pieces=()))
    words = (("Words that count", (", ".join(each.word for each in reason.words),)),) if reason.words else ()
    nearness = (f"nearness {reason.weight:.2g}",) if isinstance(rank.measure, TopicalRisk) else ()
    return Card(
        title=rank.topic,
        marks=(*(f"{each.measure.name}: {_place(each)}" for each, _ in going_by), *nearness),
        quotation=quoted.pieces,
        source=f"{reason.entry}, {quoted.when}" if quoted.when and quoted.when not in reason.entry else reason.entry,
        notes=words,
    )


def trend_figure(ranks: Sequence[TopicRank]) -> Figure | None:
    """Percentiles over time, of each topic by the first measure with a history; none without times or evidence.

    A topic is drawn from the week on that has evidence: before, a percentile says nothing.
    """
    drawn: dict[str, tuple[TopicRank, list[Stage]]] = {}
    for rank in ranks:
        told = [stage for stage in rank.history if stage.standing.has_evidence]
        if told and rank.topic not in drawn and len(drawn) < LINES:
            drawn[rank.topic] = (rank, told)
    if not drawn:
        return None
    series = {
        f"{topic} ({rank.measure.name})": [(stage.begins, 100 * stage.standing.percentile) for stage in told]
        for topic, (rank, told) in drawn.items()
    }
    first, (_, told) = next(iter(drawn.items()))
    start, end = (100 * told[place].standing.percentile for place in (0, -1))
    came = f"went from {start:.0f} to {end:.0f}" if round(start) != round(end) else f"has been {end:.0f} throughout"
    rows = tuple(
        (name, f"{when:%Y-%m-%d}", round(share, 1)) for name, points in series.items() for when, share in points
    )
    return Figure(
        chart=line("Percentile over time", series, x_title="week", y_title="percentile"),
        caption=f"For {first} the percentile {came}, among the others as they are.",
        table=DataTable(caption="Percentile over time", columns=("topic", "week of", "percentile"), rows=rows),
    )


def _standing(story: RiskStory) -> Chapter:
    ranks = story.report.ranks
    above = [rank for rank in ranks if rank.alert]
    blocks: list[Block] = []
    if above and story.threshold is not None:
        named = ", ".join(dict.fromkeys(rank.topic for rank in above))
        blocks.append(Callout("caution", f"You are above your threshold ({100 * story.threshold:g}) for {named}."))
    table = DataTable(
        caption="Ranks by topic",
        columns=STANDING_COLUMNS,
        rows=tuple(standing_rows(ranks)),
        numeric=STANDING_COLUMNS[2:],
    )
    blocks += [
        Prose(ABOUT_RANKS),
        *_standing_figure(ranks, table),
        Prose("\n\n".join(dict.fromkeys(f"`{rank.measure.name}`: {rank.measure.about()}" for rank in ranks))),
    ]
    return Chapter(title="Where you stand", blocks=tuple(blocks))


def _standing_figure(ranks: Sequence[TopicRank], table: DataTable) -> tuple[Block, ...]:
    """Bars of what there is evidence for, by the first measure; the table alone where there is none."""
    near = [rank for rank in ranks if rank.standing.has_evidence]
    if not near:
        return (Prose("Nothing of yours is near any of these topics: there is no evidence for any rank."), table)
    measure = near[0].measure
    bars = [(rank.topic, 100 * rank.standing.percentile) for rank in near if rank.measure == measure]
    return (
        Figure(
            chart=bar(f"Percentile by topic ({measure.name})", bars, unit="percentile"),
            caption=f"Most exposed: {near[0].topic}, {_place(near[0])}.",
            table=table,
        ),
    )


def _posts(story: RiskStory) -> Chapter:
    topics = list(dict.fromkeys(rank.topic for rank in story.report.ranks if rank.reasons))[:CARDS]
    shown = [rank for rank in story.report.ranks if rank.topic in topics]
    title = "The posts that put you there"
    if not topics:
        return Chapter(title=title, blocks=(Prose("Nothing of yours is near any of these topics."),))
    return Chapter(title=title, blocks=(Prose(ABOUT_POSTS), *reason_cards(shown, story.quotations)))


def _trend(story: RiskStory) -> tuple[Chapter, ...]:
    figure = trend_figure(story.report.ranks)
    return (Chapter(title="Over time", blocks=(figure,)),) if figure is not None else ()


def _draft(story: RiskStory) -> tuple[Chapter, ...]:
    if story.draft is None:
        return ()
    if not story.draft:
        return (Chapter(title="What the draft would do", blocks=(Prose(f"{DRAFT_CHANGES_NOTHING}."),)),)
    table = DataTable(
        caption="Ranks with and without it",
        columns=DRAFT_COLUMNS,
        rows=tuple(draft_rows(story.draft)),
        numeric=DRAFT_COLUMNS[2:5],
    )
    said = Prose("Were the draft posted now, and everybody else stayed as they are. Nothing is kept of it.")
    return (Chapter(title="What the draft would do", blocks=(said, table)),)


def _limits(story: RiskStory) -> Chapter:
    return Chapter(
        title="How far to trust this",
        blocks=(
            Callout("caution", LIMITS),
            *((Code(text=story.command, language="command"),) if story.command else ()),
        ),
    )


def _place(rank: TopicRank) -> str:
    standing = rank.standing
    place = f"{standing.best:,} of {standing.people:,}"
    if not standing.has_evidence:
        return f"{NO_EVIDENCE} ({place})"
    return f"{place}, shared by {standing.equal + 1}" if standing.equal else place


def _draft_place(standing: Standing) -> Value:
    return standing.best if standing.has_evidence else NO_EVIDENCE

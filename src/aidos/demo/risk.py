"""The demo's chapter on R-susceptibility: one person's ranks and why, and how well measures find the afflicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aidos.demo.chapter import Outcome, Workplace
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Prose
from aidos.report.page import Facts as Tiles

if TYPE_CHECKING:
    from aidos.engine.embedded import EmbeddedTable
    from aidos.rooms.risk.community import Ranked
    from aidos.rooms.risk.page import RiskStory

__all__ = ["risk_chapter"]

OPEN = "select * from {table} where community = 'open'"
MEASURES = ("lda-dt", "lda-d", "lda-t", "lda", "bow", "entropy", "differential-privacy")
TOPIC = "depression"
SHOWN = 5
PLACE = 5
"""Whose page is shown: not the first, so that a draft can bring her nearer."""
DRAFT = "Does anybody else feel hopeless in the evenings? My therapist wants to talk about antidepressants."

LIMITS = (
    "A high rank does not say that somebody is afflicted. The people are made up, and the topic model was trained on "
    "another made-up world: what holds here is the shape, not the numbers."
)


def risk_chapter(place: Workplace) -> Outcome:
    """Rank the open community for its sensitive topics, and tell one person where she stands."""
    from aidos.jobs.desk import Desk
    from aidos.rooms.risk.community import rank_community
    from aidos.rooms.risk.directory import RiskDirectory
    from aidos.rooms.risk.models import choose_measures, load_knowledge
    from aidos.rooms.risk.ranking import RiskRanking
    from aidos.rooms.risk.story import Asking, look_up_person
    from aidos.world.vocabulary import build_vocabulary

    entries = _entries(place)
    knowledge = load_knowledge()
    vocabulary = build_vocabulary(place.world)
    topics = [vocabulary.topics[number].id for number in vocabulary.sensitive]
    known = [topic for topic in topics if topic in knowledge.matches.dimensions]
    measures = choose_measures(MEASURES, knowledge)
    ranking = RiskRanking(topics=tuple(known), measures=tuple(map(str, measures)))
    ranked = rank_community(entries, ranking, knowledge, Desk(progress=place.progress), leave_out=True)
    directory = RiskDirectory(place.engine.scratch / "risk")
    directory.create(ranked.state, entries)
    ranked_for = ranked.state.plan.topics
    first = TOPIC if TOPIC in ranked_for else ranked_for[0]
    order = ranked.state.risks(first, measures[0]).argsort(kind="stable")[::-1]
    person = ranked.state.register.ids[int(order[:PLACE][-1])]
    asking = Asking(measures=measures[:1], top=SHOWN, draft=DRAFT)
    story = look_up_person(directory, ranked.state, place.engine, person, asking).value
    chapter = _chapter(place, ranked, story)
    return Outcome(chapter, "vulnerability", f"{len(ranked.state):,} people ranked for {len(ranked_for)} topics")


def _entries(place: Workplace) -> EmbeddedTable:
    """The posts of the open community, read as any file is."""
    from aidos.engine.files import replace_when_done
    from aidos.ingest.options import ReadOptions
    from aidos.rooms.risk.sources import read_entries

    file = place.engine.scratch / "open.parquet"
    with replace_when_done(file, private=True) as partial:
        place.engine.parquet(place.directory / "posts.parquet").select(OPEN).write_parquet(partial)
    return read_entries(place.engine, [str(file)], ReadOptions(), without_times=False)


def _chapter(place: Workplace, ranked: Ranked, story: RiskStory) -> Chapter:
    from aidos.rooms.risk import page as riskpage

    report = story.report
    trend = riskpage.trend_figure(report.ranks[:1])
    blocks: list[Block] = [
        Prose(
            "Somebody who looks for vulnerable people orders a community by what its members write about a sensitive "
            "topic, and takes the first. aidos computes that order, and tells each person her own place in it. Here is "
            f"the made-up member {report.person}, one of the first {PLACE} who would be found for "
            f"{report.ranks[0].topic}."
        ),
        Tiles((("people", ranked.facts.people), ("posts", ranked.facts.entries), ("topics", len(report.ranks)))),
        DataTable(
            caption=f"The {len(report.ranks)} topics she is most exposed to",
            columns=riskpage.STANDING_COLUMNS,
            rows=tuple(riskpage.standing_rows(report.ranks)),
        ),
        *riskpage.reason_cards(report.ranks[:1], story.quotations)[:2],
        *([trend] if trend is not None else []),
        DataTable(
            caption=f"What this draft would do: \u201c{DRAFT}\u201d",
            columns=riskpage.DRAFT_COLUMNS,
            rows=tuple(
                riskpage.draft_rows([each for each in story.draft or () if each.topic == report.ranks[0].topic])
            ),
        ),
        _measures(place, ranked),
        Callout("caution", LIMITS),
        Code(
            text="aidos risk rank posts.parquet --topic depression -o ranks --i-am-the-operator\n"
            f"aidos risk person {report.person} --in ranks -o page.html\n"
            "aidos risk local my-own-texts.txt",
            language="command",
        ),
    ]
    return Chapter(title="Who is found when somebody looks for the vulnerable", blocks=tuple(blocks))


def _measures(place: Workplace, ranked: Ranked) -> DataTable:
    """How many of the afflicted are among the first R, by measure; and where the others of a topic stand."""
    from aidos.studies.risk.assessment import Truth, assess, tabulate
    from aidos.studies.risk.outcome import RiskBasis, RiskOutcome

    state = ranked.state
    truth = Truth.of_world(place.world, state.register.ids).select(state.plan.topics)
    rows = [row for measure in state.plan.measures for row in assess(measure.name, state.all_risks(measure), truth)]
    outcome = RiskOutcome(rows={"measured": tabulate(rows)}, basis=RiskBasis(about="", people=len(state), entries=0))
    return DataTable(
        caption="Share of the afflicted among the first R, and of these places taken by others of the topic",
        columns=("measure", "afflicted found", "places of professionals", "places of the curious"),
        rows=tuple(
            (
                name,
                round(outcome.micro(name), 3),
                *(round(outcome.role(name, role, "taken"), 3) for role in ("professional", "curious")),
            )
            for name in outcome.measures
        ),
    )

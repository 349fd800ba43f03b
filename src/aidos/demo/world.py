"""The demo's first chapter: the sample world, written to files and looked at."""

from __future__ import annotations

from aidos.demo.chapter import Outcome, Workplace
from aidos.engine.embedded import EmbeddedTable
from aidos.report.charts import line, scatter
from aidos.report.page import Callout, Chapter, Code, DataTable, Facts, Figure, Prose
from aidos.world.write import PARTS, write_sample

__all__ = ["world_chapter"]

WHAT_IT_IS = {
    "log": "searches: sessions, reformulations, clicks",
    "posts": "two communities, one of them anonymous",
    "documents": "what is searched, each with a known topic mix",
    "results": "a personalising search service, with and without its hidden profile",
    "rankings": "subjects with relevance, some joining and leaving",
    "truth": "who is afflicted, professional or curious; hidden profiles",
}


def world_chapter(place: Workplace) -> Outcome:
    """Write every part of the world, and show that it behaves like a search log."""
    rows = {
        part: write_sample(part, place.world, place.directory / f"{part}.parquet", place.progress) for part in PARTS
    }
    log = place.engine.parquet(place.directory / "log.parquet")
    people = int(str(log.rows("select count(distinct client_id) from {table}")[0][0]))
    queries = int(str(log.rows("select count(distinct user_query) from {table}")[0][0]))
    world = place.world
    chapter = Chapter(
        title="The sample world",
        blocks=(
            Prose(
                "aidos ships no real person's data. It makes a world of its own from one number, the seed: people with "
                "interests, their searches and posts, documents, a search service that personalises, and rankings. "
                "Because the world is made, the truth about it is known, and every claim of aidos can be checked."
            ),
            Facts((("people", people), ("rows of the log", rows["log"]), ("distinct queries", queries))),
            DataTable(
                caption="The parts of the world, one file each",
                columns=("part", "rows", "what it is"),
                rows=tuple((part, count, WHAT_IT_IS[part]) for part, count in rows.items()),
            ),
            _popularity(log),
            _clicks(log),
            Callout(
                "caution",
                "Nothing here is evidence about real people: use it to test methods, not to draw conclusions.",
            ),
            Code(text=f"aidos sample log --size {world.size} --seed {world.seed} -o log.parquet", language="command"),
        ),
    )
    return Outcome(chapter, "sample world", f"{sum(rows.values()):,} rows in {len(rows)} files")


def _popularity(log: EmbeddedTable) -> Figure:
    """How many queries were asked by how many people."""
    found = log.rows(
        "select people, count(*) from (select count(distinct client_id) people from {table} group by user_query) "
        "group by people order by people"
    )
    pairs = [(int(str(people)), int(str(queries))) for people, queries in found]
    once = next((queries for people, queries in pairs if people == 1), 0) / sum(queries for _, queries in pairs)
    shown = pairs[:60] + pairs[60::10]
    return Figure(
        chart=scatter("Popularity of queries", shown, x_title="people who asked it", y_title="queries"),
        caption=f"{once:.0%} of the distinct queries were asked by one person only: rare ones give people away.",
        table=DataTable(
            caption="Queries by the number of people who asked them",
            columns=("people who asked it", "queries"),
            rows=tuple(pairs[:15]),
        ),
    )


def _clicks(log: EmbeddedTable) -> Figure:
    """Clicks by the position of the result."""
    found = log.rows(
        "select position, count(*) from {table} where action = 'click' and position <= 10 group by all order by all"
    )
    pairs = [(int(str(position)), int(str(clicks))) for position, clicks in found]
    total = sum(clicks for _, clicks in pairs)
    shares = tuple((position, round(clicks / total, 4)) for position, clicks in pairs)
    return Figure(
        chart=line("Clicks by position", {"clicks": list(shares)}, x_title="position of the result", y_title="share"),
        caption=f"The first result gets {shares[0][1]:.0%} of the clicks: attention falls faster than relevance does.",
        table=DataTable(caption="Share of clicks by position", columns=("position", "share of clicks"), rows=shares),
    )

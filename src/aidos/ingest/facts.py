"""What is in the rows of one file, and what is wrong with them taken together: counted by the engine, never shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from aidos.core.records import POSTS, SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine, quote_name
from aidos.errors import Problem
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import LINES_SHOWN, describe
from aidos.ingest.spool import ROW, Spool
from aidos.ingest.timestamps import parse_time

__all__ = ["Facts", "find_facts", "find_problems", "good_rows", "is_blank", "lacks_object"]

SPACES = " || ".join(f"chr({code})" for code in (9, 10, 11, 12, 13, 32, 160))
"""What a text may hold and yet be blank."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbers about a table."""

    rows: int
    people: int | None
    """How many people; None when no person is in it."""
    first: str
    """The earliest time, empty when there is none."""
    last: str
    nulls: Mapping[str, int]
    """How many rows lack each column that the file has."""
    clicks: int | None = None
    """How many rows call themselves clicks; None where the file does not name actions and results."""
    questions: int | None = None
    """How many posts call themselves questions, 0 where no column says the kind; None where there are no posts."""
    blank: int = 0
    """How many posts have neither text nor title."""
    repeated: int = 0
    """How many posts have the id of another one."""

    def notes(self) -> list[str]:
        """What is worth knowing and no problem."""
        if self.questions == 0 and self.rows:
            where = "no kind is called question" if "kind" in self.nulls else "no column is kind (question or answer)"
            return [f"{where}, so aidos evaluate mediator finds nobody who asks"]
        results = self.rows - self.nulls.get("object_id", self.rows)
        if self.clicks == 0 and results:
            return [f"no action is called click, so rows with a result ({results:,}) are no clicks to a release"]
        return []


@dataclass(frozen=True, slots=True)
class _Condition:
    """Something that may be wrong with a single row."""

    slug: str
    sql: str
    column: str
    words: Mapping[str, str]


def find_facts(engine: EmbeddedEngine, spool: Spool, label: str = "", *, brief: bool = False) -> Facts:
    """Count rows, people, gaps, and the span of time; briefly, only what problems are found by."""
    names = spool.schema.names()
    person = "" if brief else spool.schema.person
    timed = _is_timed(spool)
    looked_for = {spool.schema.person, "timestamp"} if brief else set(names)
    mapped = [name for name in names if name in spool.columns and name in looked_for]
    acts = spool.schema is SEARCH_LOG and {"action", "object_id"} <= spool.columns.keys() and not brief
    questions = "null"
    if spool.schema is POSTS and not brief:
        questions = "count_if(kind = 'question')" if "kind" in spool.columns else "0"
    posts = spool.schema is POSTS and not brief
    asked = [
        "count(*)",
        "count_if(lower(action) = 'click')" if acts else "null",
        f"count(distinct {person})" if person else "null",
        'cast(min("timestamp") as varchar)' if timed else "null",
        'cast(max("timestamp") as varchar)' if timed else "null",
        questions,
        f"count_if({is_blank(spool.columns)})" if posts and "text" in spool.columns else "0",
        "count(post_id) - count(distinct post_id)" if posts and "post_id" in spool.columns else "0",
        *(f"count(*) - count({quote_name(name)})" for name in mapped),
    ]
    found = engine.run(f"select {', '.join(asked)} from ({spool.sql})", label=label)[0]
    rows, clicks, people, first, last, asking, blank, repeated, *nulls = found
    return Facts(
        rows=int(str(rows)),
        people=None if people is None else int(str(people)),
        first=str(first or ""),
        last=str(last or ""),
        nulls={name: int(str(count)) for name, count in zip(mapped, nulls, strict=True)},
        clicks=None if clicks is None else int(str(clicks)),
        questions=None if asking is None else int(str(asking)),
        blank=int(str(blank or 0)),
        repeated=int(str(repeated or 0)),
    )


def find_problems(engine: EmbeddedEngine, file: str, spool: Spool, facts: Facts, options: ReadOptions) -> list[Problem]:
    """Rows without a person or a time, absurd times, times that run backwards, and posts that cannot be searched."""
    conditions = _conditions(spool, facts, options)
    problems = []
    if conditions:
        counts = engine.run(
            "select " + ", ".join(f"count_if({condition.sql})" for condition in conditions) + f" from ({spool.sql})"
        )[0]
        problems = [
            describe(
                condition.slug,
                file,
                lines=_lines(engine, spool, f"select {ROW} from ({spool.sql}) where {condition.sql}"),
                count=int(str(count)),
                column=condition.column,
                **condition.words,
            )
            for condition, count in zip(conditions, counts, strict=True)
            if count
        ]
        problems = [_with_hint(found, spool.time_hint) for found in problems]
    if spool.in_order and spool.schema.name == "search-log" and facts.first and not options.for_release:
        problems += _unsorted(engine, file, spool, options, people=None if problems else facts.people)
    return problems


def good_rows(spool: Spool, options: ReadOptions) -> str:
    """The condition that keeps the rows that nothing is wrong with."""
    person = [f"{spool.schema.person} is not null"] if spool.schema.person in spool.columns else []
    time = []
    if _is_timed(spool) and "timestamp" in spool.columns:
        early, late = _bounds(options)
        time = [f'"timestamp" >= {early}', f'"timestamp" < {late}']
    sound = [*person, *time]
    if spool.schema is POSTS and options.checks_posts:
        sound += ["post_id is not null"] if "post_id" in spool.columns else []
        sound += [f"not ({is_blank(spool.columns)})"] if "text" in spool.columns else []
        sound += [f"not ({_is_repeated(spool, sound)})"] if "post_id" in spool.columns else []
    return " and ".join(sound) or "true"


def is_blank(columns: Collection[str]) -> str:
    """The condition that a post says nothing: a title alone is words, too."""
    return " and ".join(f"ltrim(coalesce({name}, ''), {SPACES}) = ''" for name in ("text", "title") if name in columns)


def _is_repeated(spool: Spool, sound: Sequence[str]) -> str:
    """The condition that a post before it, itself sound, has the same id."""
    turn = f"row_number() over (partition by post_id order by {ROW}) as turn"
    ids = f"select {ROW}, {turn} from ({spool.sql}) where {' and '.join([*sound, 'post_id is not null'])}"
    return f"{ROW} in (select {ROW} from ({ids}) where turn > 1)"


def lacks_object(spool: Spool) -> str:
    """The condition that a row says where a result stood and names none; where actions are told, only clicks count."""
    clicked = " and lower(action) = 'click'" if "action" in spool.columns else ""
    return f'"position" is not null and object_id is null{clicked}'


def _is_timed(spool: Spool) -> bool:
    """Whether the rows have times; a table of any kind may call a column of texts so."""
    return any(column.name == "timestamp" and column.type == "TIMESTAMP" for column in spool.schema.columns)


def _conditions(spool: Spool, facts: Facts, options: ReadOptions) -> list[_Condition]:
    """What to look for, as far as the facts leave it open."""
    conditions = []
    person = spool.schema.person
    if spool.schema is SEARCH_LOG and facts.nulls.get("position", facts.rows) < facts.rows and not options.for_release:
        column, words = spool.columns["position"], _objects(spool)
        conditions.append(_Condition("position-without-object", lacks_object(spool), column, words))
    if person and facts.nulls.get(person):
        conditions.append(_Condition("missing-person", f"{person} is null", spool.columns[person], {}))
    if spool.schema is POSTS and options.checks_posts:
        conditions += _of_posts(spool, facts)
    if _is_timed(spool) and facts.nulls.get("timestamp"):
        conditions.append(_Condition("unreadable-time", '"timestamp" is null', spool.columns["timestamp"], {}))
    if facts.first:
        early, late = _bounds(options)
        column = spool.columns.get("timestamp", "")
        latest = options.last_day()
        before = {"bound": f"before {options.first_day()}", "allow": f"--earliest {_year(facts.first)}-01-01"}
        after = {"bound": f"after {latest}", "allow": f"--latest {_year(facts.last)}-12-31"}
        if not _is_between(facts.first, options):
            conditions.append(_Condition("absurd-time", f'"timestamp" < {early}', column, before))
        if not _is_between(facts.last, options):
            conditions.append(_Condition("absurd-time", f'"timestamp" >= {late}', column, after))
    return conditions


def _of_posts(spool: Spool, facts: Facts) -> list[_Condition]:
    """Posts without an id, blank ones, and ids that are there twice: no search could return them as they are."""
    found = {
        "missing-id": ("post_id", facts.nulls.get("post_id", 0), "post_id is null"),
        "missing-text": ("text", facts.blank, is_blank(spool.columns)),
        "duplicate-id": ("post_id", facts.repeated, _is_repeated(spool, ())),
    }
    return [
        _Condition(slug, sql, spool.columns[name], {})
        for slug, (name, number, sql) in found.items()
        if number and name in spool.columns
    ]


def _objects(spool: Spool) -> dict[str, str]:
    """Which column may name the results, where none does."""
    found = next((column for column in spool.unused if column.could_be == "object_id"), None)
    if found is None or "object_id" in spool.columns:
        return {"advice": "drop such positions", "option": "--accept position-without-object"}
    advice = f"say that {found.name} does, or drop such positions with --accept position-without-object"
    return {"advice": advice, "option": found.option}


def _bounds(options: ReadOptions) -> tuple[str, str]:
    end = options.last_day()
    late = f"timestamp '{end + timedelta(days=1)}'" if end < date.max else "timestamp 'infinity'"
    return f"timestamp '{options.first_day()}'", late


def _is_between(time: str, options: ReadOptions) -> bool:
    """Whether a time is certainly not absurd; times that Python cannot hold are for the engine to judge."""
    parsed = parse_time(time)
    return parsed is not None and options.first_day() <= parsed.date() <= options.last_day()


def _year(time: str) -> str:
    """The year of a time, for a suggested bound; years that no date can have are cut to the last that one can."""
    year = time.lstrip("-").split("-")[0]
    return year.zfill(4) if year.isdigit() and 0 < int(year) <= date.max.year and "BC" not in time else "9999"


def _unsorted(
    engine: EmbeddedEngine, file: str, spool: Spool, options: ReadOptions, *, people: int | None
) -> list[Problem]:
    """Times may run on through the whole file, or through each person's rows when these stand together.

    Only sound rows count: an absurd time among good ones is one trouble, not two. ``people`` is how many people have
    sound rows, where that is known.
    """
    person = spool.schema.person
    steps = f"""
        select {ROW}, {person}, "timestamp" < lag("timestamp") over () as back,
            {person} is distinct from lag({person}) over () as other
        from ({spool.sql}) where {good_rows(spool, options)}
    """
    back, back_within, changes = engine.run(
        f"select count_if(back), count_if(back and not other), count_if(other) from ({steps})"
    )[0]
    if not back:
        return []
    if people is None:
        people = int(str(engine.run(f"select count(distinct {person}) from ({steps})")[0][0]))
    condition, count = ("back and not other", back_within) if changes == people else ("back", back)
    if not count:
        return []
    lines = _lines(engine, spool, f"select {ROW} from ({steps}) where {condition}")
    return [describe("unsorted-times", file, lines=lines, count=int(str(count)), column=spool.columns["timestamp"])]


def _with_hint(found: Problem, time_hint: str) -> Problem:
    """Say how times are written rather than leaving all rows out."""
    if found.kind != "unreadable-time" or not time_hint:
        return found
    remedy = "say how times are written (check the order of day and month)"
    return replace(found, remedy=remedy, option=f"--time-format '{time_hint}'")


def _lines(engine: EmbeddedEngine, spool: Spool, rows: str) -> Sequence[int]:
    found: Collection[int] = [int(str(row[0])) for row in engine.run(f"{rows} order by {ROW} limit {LINES_SHOWN}")]
    return sorted(spool.lines_of(found).values()) if found else ()

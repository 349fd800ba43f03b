from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.core.records import POSTS, SCHEMAS, SEARCH_LOG
from aidos.ingest.advice import look_at, missing_columns, unused_columns
from aidos.ingest.columns import map_columns
from aidos.ingest.formats.base import Sample
from aidos.ingest.formats.generic import Delimited
from aidos.ingest.options import ReadOptions

TEXT = "many words that somebody wrote"
NAMES = st.sampled_from(
    [
        "user.name",
        "ecs.version",
        "customer_key",
        "visitor hash",
        "cookd",
        "post_cooked",
        "member",
        "usr_id",
        "ip",
        "body",
        "account_id",
        "user_agent",
        "loginName",
        "device_id",
        "session",
        "trace.id",
        "anonid2",
        "author_name",
        "c1",
    ]
)
CELLS = st.one_of(
    st.sampled_from(["anna", "berta", "carla", "7", "8", "2024-03-01", "https://a.example/b", "", TEXT, "<p>x</p>"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=50),
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    size = draw(st.integers(0, 60))
    columns = [
        draw(
            st.one_of(
                st.builds(lambda cell: [cell] * size, CELLS),
                st.just([f"key{number}" for number in range(size)]),
                st.lists(CELLS, min_size=size, max_size=size),
                st.just([f"v{number % 7}" for number in range(size)]),
            )
        )
        for _ in names
    ]
    return names, [list(row) for row in zip(*columns, strict=True)]


@settings(max_examples=400, deadline=None)
@given(table=tables(), schema=st.sampled_from([SEARCH_LOG, POSTS]), named=st.booleans())
def test_a_suggested_person_is_never_constant_unique_or_text(
    table: tuple[list[str], list[list[str]]], schema: object, named: bool
) -> None:
    assert schema in (SEARCH_LOG, POSTS)
    kind = SEARCH_LOG if schema is SEARCH_LOG else POSTS
    names, rows = table
    looks = look_at(names, rows)
    problems = missing_columns("f", names, kind, {}, looks=looks, named=named)
    options = [problem.option for problem in problems if problem.column == kind.person]
    options += [column.option for column in unused_columns(names, kind, {}, looks) if column.could_be == kind.person]
    for option in options:
        name = option.partition("=")[2].rstrip("'")
        if name == "NAME":
            continue
        cells = [row[names.index(name)].strip() for row in rows if row[names.index(name)].strip()]
        assert 1 < len(set(cells)) < len(cells)
        assert sum(len(cell.split()) > 2 or "<" in cell for cell in cells) <= 0.1 * len(cells)


@settings(max_examples=200, deadline=None)
@given(
    names=st.lists(
        st.one_of(
            NAMES, st.sampled_from([name for kind in SCHEMAS.values() for name in kind.names()]), st.text("abc ")
        ),
        min_size=2,
        max_size=9,
    ),
    for_release=st.booleans(),
)
def test_every_column_of_the_line_of_names_is_mapped_or_listed(names: list[str], for_release: bool) -> None:
    first = ",".join(names)
    sample = Sample("log.csv", (first, ",".join("x" for _ in names)))
    plan = Delimited().plan("log.csv", sample, ReadOptions(header=True, delimiter=",", for_release=for_release))
    assert plan.layout is not None
    told = [*plan.layout.mapping.values(), *(column.name for column in plan.unused)]
    assert set(told) == set(plan.layout.names)
    assert not set(plan.layout.mapping.values()) & {column.name for column in plan.unused}


def advised(names: Sequence[str], *columns: Sequence[str]) -> str:
    rows = list(zip(*columns, strict=True))
    (problem,) = [
        problem
        for problem in missing_columns(
            "f", names, SEARCH_LOG, map_columns(names, SEARCH_LOG, {}), looks=look_at(names, rows)
        )
        if problem.column == "client_id"
    ]
    return problem.option


PEOPLE = [f"p{number % 9}" for number in range(60)]


@pytest.mark.parametrize("name", ["customer_key", "usr_id", "loginName", "HTTP.User.Hash", "account"])
def test_names_that_mean_a_person_are_heard(name: str) -> None:
    assert advised([name], PEOPLE) == f"--column client_id={name}"


@pytest.mark.parametrize(
    "name", ["ecs.version", "user_agent", "user_country", "accountType", "cooked", "referrer_user"]
)
def test_names_that_only_sound_like_one_are_not(name: str) -> None:
    assert advised([name], PEOPLE) == "--column client_id=NAME"


def test_of_several_the_one_that_looks_like_a_person_is_suggested() -> None:
    names = ["user_name", "user_key", "user_id_hash"]
    columns = [["app"] * 60, [str(number) for number in range(60)], PEOPLE]
    assert advised(names, *columns) == "--column client_id=user_id_hash"


def test_times_and_positions_must_look_like_it() -> None:
    names = ["user", "q", "start_time", "took_time", "slot"]
    rows = [[f"u{n % 9}", "tent", f"2024-03-01 10:00:{n:02}", f"{n}ms", f"left{n}"] for n in range(60)]
    mapping = map_columns(names, SEARCH_LOG, {})
    found = {
        column.name: column.could_be for column in unused_columns(names, SEARCH_LOG, mapping, look_at(names, rows))
    }
    assert found == {"start_time": "timestamp", "took_time": "", "slot": ""}


def test_times_of_day_are_nobody_and_no_query() -> None:
    clock = [f"00:00:{number % 40:02d}" for number in range(60)]
    rows = list(zip(clock, PEOPLE, [f"[tea {number % 8}]" for number in range(60)], strict=True))
    names = ["c1", "c2", "c3"]
    problems = missing_columns("f", names, SEARCH_LOG, {}, looks=look_at(names, rows), named=False)
    told = {problem.column: problem.remedy.partition(";")[0] for problem in problems}
    assert told["client_id"].endswith(": c2 or c3 may be it")
    assert told["user_query"].endswith(": c2 or c3 may be it")
    assert advised(["customer_key"], clock) == "--column client_id=NAME"

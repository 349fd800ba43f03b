from __future__ import annotations

from urllib.parse import quote_plus

import pytest
from format_samples import SOLR, at, only_bad, only_row, parsed, sample
from hypothesis import given
from hypothesis import strategies as st

from aidos.ingest.formats.base import Row
from aidos.ingest.formats.solr import SolrRequests

REQUESTS = SolrRequests()


def request(params: str, path: str = "/select") -> str:
    return SOLR.format(path=path, params=params)


def test_a_query() -> None:
    assert only_row(REQUESTS, request("q=gr%C3%BCnes+zelt%3F&rows=5&user=u1&sid=s1")) == {
        "client_id": "u1",
        "timestamp": at("2024-05-01T10:11:12.345000"),
        "user_query": "grünes zelt?",
        "session_id": "s1",
        "action": "query",
    }


@pytest.mark.parametrize(
    "start",
    [
        "2024-05-01 10:11:12.345 INFO  (qtp1-20) ",
        "2024-05-01T10:11:12.345Z INFO ",
        "2024-05-01T12:11:12.345+02:00 INFO ",
        "2024-05-01T12:11:12,345+0200 INFO ",
        "INFO  - 2024-05-01 10:11:12.345; org.apache.solr.core.SolrCore; ",
        "[2024-05-01 10:11:12.345] ",
    ],
)
def test_layouts_of_the_time(start: str) -> None:
    row = only_row(
        REQUESTS, f"{start}[shop] webapp=/solr path=/select params={{q=tent&uid=u1}} hits=1 status=0 QTime=1"
    )
    assert row["timestamp"] == at("2024-05-01T10:11:12.345000")


def test_a_time_in_the_query_is_not_the_lines_time() -> None:
    bad = only_bad(REQUESTS, "path=/select params={q=2024-05-01T10:11:12Z&uid=u1} hits=1 status=0 QTime=1")
    assert bad.kind == "unreadable-time"


def test_braces_in_parameters() -> None:
    assert only_row(REQUESTS, request("q={!func}popularity}&user=u1"))["user_query"] == "{!func}popularity}"


@pytest.mark.parametrize(
    "line",
    [
        request("commit=true", path="/update"),
        request("q=tent&user=u1", path="/admin/ping"),
        request("facet=true&user=u1"),
        request("q=tent&user=u1&isShard=true&distrib=false"),
        "2024-05-01 10:11:12.345 INFO  (main) [ ] o.a.s.c.CoreContainer ready",
        "\tat java.base/java.lang.Thread.run(Thread.java:829)",
        "",
    ],
)
def test_lines_of_other_kinds_give_no_row_and_are_not_bad(line: str) -> None:
    assert parsed(REQUESTS, line) == []


def test_the_person_comes_from_the_parameter_the_user_names() -> None:
    line = request("q=tent&visitor=v7&user=u1&visit=x&text=hut")
    fitted = REQUESTS.fitted(sample([line]), {"client_id": "visitor", "session_id": "visit", "user_query": "text"})
    row = only_row(fitted, line)
    assert (row["client_id"], row["session_id"], row["user_query"]) == ("v7", "x", "hut")
    assert fitted.columns()["visitor"] == "client_id"


def test_a_query_of_nobody_is_a_missing_person() -> None:
    bad = only_bad(REQUESTS, request("q=secret"))
    assert (bad.kind, bad.column) == ("missing-person", "user")
    assert "secret" not in bad.sentence


def test_a_cut_off_line_and_bytes_that_are_no_text_are_bad() -> None:
    cut = only_bad(REQUESTS, request("q=secret&user=u1")[:-40])
    broken = only_bad(REQUESTS, request("q=secret%FF&user=u1"))
    assert (cut.kind, broken.kind) == ("bad-line", "bad-line")
    assert "secret" not in cut.sentence + broken.sentence


@given(st.text(), st.text(min_size=1).filter(lambda person: not person.isspace()))
def test_any_query_comes_back_as_it_was_typed(typed: str, person: str) -> None:
    (row,) = parsed(REQUESTS, request(f"q={quote_plus(typed)}&user={quote_plus(person)}"))
    assert isinstance(row, Row)
    assert (row.values["user_query"], row.values["client_id"]) == (typed, person)

"""SearXNG, OpenSearch and Solr on recorded exchanges."""

import logging
import traceback

import pytest
from replay import Pauses, Replay, access

from aidos.errors import InputError, ParameterError, ServiceError
from aidos.service.access import Credentials
from aidos.service.base import Fields
from aidos.service.opensearch import OpenSearch
from aidos.service.searxng import SearXNG
from aidos.service.solr import Solr

QUERY = "windmill repair"
KINDS = ("searxng", "opensearch", "solr")


def service(kind, recording, pauses=None, *, fields=None, query="multi_match", language="", **options):
    replay = Replay(recording)
    way = access(kind, replay, pauses, **options)
    if kind == "searxng":
        return SearXNG(way, language=language), replay
    if kind == "solr":
        return Solr(way, fields=fields), replay
    return OpenSearch(way, index="articles", fields=fields, query=query), replay


def failure(kind, recording, pauses=None, **options):
    """The error of a search; nothing that is printed of it may quote the query or the answer."""
    opened, replay = service(kind, recording, pauses, **options)
    with opened, pytest.raises(ServiceError) as caught:
        opened.search(QUERY)
    assert replay.finished()
    printed = "".join(traceback.format_exception(caught.value)) + caught.value.hint
    assert "windmill" not in printed
    assert caught.value.hint
    return str(caught.value)


def enough(kind):
    """The size that the recordings were made with; SearXNG would be asked for a second page."""
    return 3 if kind == "searxng" else 10


def brief(results):
    return [(found.object_id, found.title, found.snippet, found.url, found.score, found.position) for found in results]


def test_searxng_results_are_read():
    opened, _ = service("searxng", "searxng_normal")
    with opened:
        results = opened.search(QUERY, 2)
    assert brief(results) == [
        (
            "https://mills.example.org/repair",
            "Repairing a windmill",
            "How the sails of an old mill are mended.",
            "https://mills.example.org/repair",
            4.0,
            1,
        ),
        (
            "https://mills.example.org/sails?page=2",
            "Sails and stocks",
            "Timber, canvas and the wind.",
            "https://mills.example.org/sails?page=2",
            1.5,
            2,
        ),
    ]


def test_searxng_is_asked_page_by_page_until_nothing_new_comes():
    opened, replay = service("searxng", "searxng_pages", language="en")
    results = opened.search(QUERY, 10)
    assert [found.position for found in results] == [1, 2, 3, 4]
    assert len({found.url for found in results}) == 4
    assert results[2].snippet == ""
    assert replay.finished()


def test_searxng_without_json_says_what_to_set():
    opened, _ = service("searxng", "searxng_json_disabled")
    with pytest.raises(ServiceError, match="403") as caught:
        opened.search(QUERY)
    assert "search.formats" in caught.value.hint


def test_searxng_whose_engines_all_fail_found_not_nothing_but_failed():
    assert "3 engines behind it failed (tried 3 times)" in failure("searxng", "searxng_no_engine")


@pytest.mark.parametrize(("recording", "place"), [("wrong_shape", "results is no list"), ("no_url", "results[0].url")])
def test_searxng_of_another_shape(recording, place):
    assert place in failure("searxng", f"searxng_{recording}")


def test_opensearch_results_are_read():
    opened, _ = service("opensearch", "opensearch_normal")
    assert brief(opened.search(QUERY)) == [
        (
            "a-17",
            "Repairing a windmill",
            "The windmill stood still until the repair of its sails.",
            "https://mills.example.org/repair",
            5.3218,
            1,
        ),
        ("42", "Sails and stocks", "Timber, canvas and the wind.", "", 2.25, 2),
        ("b-3", "", "", "", 2.25, 3),
    ]


@pytest.mark.parametrize(
    ("recording", "query", "searched"),
    [("opensearch_match", "match", ("body",)), ("opensearch_simple", "simple_query_string", ("title^2", "text"))],
)
def test_opensearch_asks_in_the_way_that_was_chosen(recording, query, searched):
    opened, replay = service("opensearch", recording, fields=Fields(searched=searched), query=query)
    assert len(opened.search(QUERY, 3)) == 3
    assert replay.finished()


def test_opensearch_names_the_error_but_not_its_reason():
    assert failure("opensearch", "opensearch_no_index").endswith(
        "answered 404 (index_not_found_exception) (tried once)"
    )
    assert "parsing_exception" in failure("opensearch", "opensearch_refused")
    assert "400 (bad request)" in failure("opensearch", "opensearch_odd_error")
    assert "503 (search_phase_execution_exception) (tried 3 times)" in failure("opensearch", "opensearch_unavailable")


def test_opensearch_with_missing_shards_gives_no_half_ranking():
    assert "1 of 5 shards (tried 3 times)" in failure("opensearch", "opensearch_partial")
    assert "in part (tried 3 times)" in failure("opensearch", "opensearch_timed_out")
    opened, _ = service("opensearch", "opensearch_partial_then_whole")
    assert len(opened.search(QUERY)) == 3


def test_opensearch_refuses_what_the_engine_would():
    opened, replay = service("opensearch", "opensearch_normal")
    with pytest.raises(ParameterError, match="between 1 and 10000"):
        opened.search(QUERY, 10_001)
    assert replay.requests == []
    with pytest.raises(ParameterError, match="one field"):
        service("opensearch", "opensearch_normal", query="match")
    with pytest.raises(ParameterError, match="query must be"):
        service("opensearch", "opensearch_normal", query="query_string")
    for index in ("", "_all/_doc", "a/b", "A", "a?b", "../x"):
        with pytest.raises(ParameterError, match="index"):
            OpenSearch(access("opensearch", None), index=index)


@pytest.mark.parametrize("recording", ["solr_normal", "solr_cloud"])
def test_solr_results_are_read(recording):
    opened, _ = service("solr", recording)
    assert brief(opened.search(QUERY)) == [
        (
            "a-17",
            "Repairing a windmill",
            "The windmill stood still until the repair of its sails.",
            "https://mills.example.org/repair",
            3.14,
            1,
        ),
        ("a-9", "Sails and stocks", "Timber, canvas and the wind.", "", 1.0, 2),
        ("b-3", "", "", "", 1.0, 3),
    ]


def test_solr_sees_words_and_never_syntax():
    opened, replay = service("solr", "solr_escaped")
    assert opened.search(r'{!func}title:windmill AND (x || y) +a -b "c d~2" *:* e^9 f\g/ and', 5) == []
    assert replay.finished()


def test_solr_errors_are_said_without_their_message():
    assert "400 (bad request)" in failure("solr", "solr_refused")
    assert "404" in failure("solr", "solr_no_core")
    assert "in part (tried 3 times)" in failure("solr", "solr_partial")
    assert "responseHeader.status" in failure("solr", "solr_wrong_status")


@pytest.mark.parametrize("name", ["i d", "", "id asc, x", "9"])
def test_solr_refuses_an_id_that_is_no_field(name):
    with pytest.raises(ParameterError, match="id"):
        Solr(access("solr", None), id_field=name)


@pytest.mark.parametrize(
    "names", [{"searched": ()}, {"searched": ("a b",)}, {"title": "a,b"}, {"text": ""}, {"url": ","}]
)
def test_fields_with_impossible_names_are_refused(names):
    with pytest.raises(ParameterError, match="field"):
        Fields(**names)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_found_is_an_empty_list(kind):
    opened, replay = service(kind, f"{kind}_empty")
    assert opened.search(f"  {QUERY} ") == []
    assert replay.finished()


@pytest.mark.parametrize(("kind", "pause"), [("searxng", 7), ("opensearch", 2), ("solr", 3)])
def test_too_many_requests_then_success_after_the_pause_that_was_asked_for(kind, pause):
    pauses = Pauses()
    opened, _ = service(kind, f"{kind}_limited", pauses)
    assert len(opened.search(QUERY, enough(kind))) == 3
    assert pauses.taken == [pause]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("recording", "words", "tries"),
    [
        ("any_three_500", "answered 500 (internal server error) (tried 3 times)", 3),
        ("any_timeout", "did not answer within 10 s (tried 3 times)", 3),
        ("any_unreachable", "could not be reached or broke off (ConnectError) (tried 3 times)", 3),
        ("any_broken_json", "answered broken JSON (tried 3 times)", 3),
        ("any_not_a_number", "answered broken JSON (tried 3 times)", 3),
        ("any_html", "answered with a page", 1),
        ("any_list", "the answer is no object", 1),
        ("any_redirect", "has moved (302)", 1),
        ("any_unauthorised", "answered 401 (unauthorized)", 1),
        ("any_long_wait", "asks to wait 3600 s", 1),
        ("any_teapot", "answered 418", 1),
    ],
)
def test_failures_of_every_engine(kind, recording, words, tries):
    pauses = Pauses(draw=0.5)
    said = failure(kind, recording, pauses)
    assert said.startswith(f"{kind}:https://")
    assert words in said
    assert pauses.taken == [0.75, 1.5][: tries - 1]


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_is_too_long_is_not_read(kind):
    assert "more than 1000 bytes" in failure(kind, "any_oversize", longest_answer=1000)


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_asked_is_not_sent(kind):
    opened, replay = service(kind, f"{kind}_normal")
    for query in ("", " \t"):
        with pytest.raises(InputError):
            opened.search(query)
    with pytest.raises(ParameterError):
        opened.search(QUERY, 0)
    assert replay.requests == []


@pytest.mark.parametrize("kind", KINDS)
def test_neither_query_nor_credentials_are_logged_or_printed(kind, caplog):
    caplog.set_level(logging.DEBUG)
    credentials = Credentials(user="reader", password="swordfish")
    opened, replay = service(kind, f"{kind}_normal", credentials=credentials)
    opened.search(QUERY, enough(kind))
    assert replay.requests[0].headers["Authorization"] == "Basic cmVhZGVyOnN3b3JkZmlzaA=="
    printed = caplog.text + repr(opened) + repr(credentials) + repr(access(kind, replay, credentials=credentials))
    assert caplog.text
    for secret in ("windmill", "reader", "swordfish", "cmVhZGVyOnN3b3JkZmlzaA"):
        assert secret not in printed

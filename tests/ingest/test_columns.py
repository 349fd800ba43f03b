from __future__ import annotations

import pytest

from aidos.core.records import JUDGEMENTS, POSTS, RUN, SCHEMAS, SEARCH_LOG, Schema
from aidos.ingest.advice import missing_columns
from aidos.ingest.columns import ALIASES, choose_schema, map_columns


def test_every_column_of_every_schema_has_its_aliases() -> None:
    assert {name: set(columns) for name, columns in ALIASES.items()} == {
        name: set(schema.names()) for name, schema in SCHEMAS.items()
    }


@pytest.mark.parametrize(
    ("names", "schema"),
    [
        (["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"], SEARCH_LOG),
        (["User-ID", "@timestamp", "search_term"], SEARCH_LOG),
        (["Id", "OwnerUserId", "CreationDate", "Body"], POSTS),
        (["qid", "docno", "score", "rank"], RUN),
        (["qid", "docno", "label"], JUDGEMENTS),
        (list(POSTS.names()), POSTS),
        (list(RUN.names()), RUN),
        (["nothing", "known"], SEARCH_LOG),
    ],
)
def test_the_kind_of_table_is_told_by_the_names(names: list[str], schema: Schema) -> None:
    assert choose_schema(names, {}) is schema


def test_given_names_come_before_own_names_before_aliases() -> None:
    names = ["user", "client_id", "who", "time", "query"]
    assert map_columns(names, SEARCH_LOG, {})["client_id"] == "client_id"
    assert map_columns(names, SEARCH_LOG, {"client_id": "who"})["client_id"] == "who"
    assert map_columns(["user"], SEARCH_LOG, {})["client_id"] == "user"


def test_the_nearest_name_is_suggested_ready_to_paste() -> None:
    names = ["user", "time", "the query"]
    (problem,) = missing_columns("f", names, SEARCH_LOG, map_columns(names, SEARCH_LOG, {}))
    assert problem.option == "--column 'user_query=the query'"


def test_a_given_name_that_the_file_lacks_is_told() -> None:
    names = ["user", "time", "query"]
    mapping = map_columns(names, SEARCH_LOG, {"session_id": "visti"})
    (problem,) = missing_columns("f", names, SEARCH_LOG, mapping)
    assert (problem.kind, problem.column) == ("missing-column", "session_id")

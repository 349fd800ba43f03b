"""Posts that no search could return as they are: blank, without an id, with the id of another. One rule for all."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import check_files, read_files

Write = Callable[[str, bytes], str]
SKIP = ReadOptions(skip_bad_rows=True)


def post(name: str | None, text: str | None = "words", **more: object) -> dict[str, object]:
    return {"post_id": name, "author_id": "ann", "timestamp": "2024-03-01", "text": text, **more}


def lines(*posts: dict[str, object]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in posts).encode()


def ids(engine: EmbeddedEngine, paths: Sequence[str], options: ReadOptions = SKIP) -> list[str]:
    table = read_files(engine, paths, options).table
    return [str(name) for (name,) in table.rows("select post_id from {table} order by post_id")]


GOOD = [post(f"g{at}") for at in range(5)]
BAD = [
    (post("b", ""), "missing-text"),
    (post("b", " \n\t"), "missing-text"),
    (post("b", None), "missing-text"),
    (post("b", "<p>&nbsp;</p>"), "missing-text"),
    (post(None), "missing-id"),
    (post("  "), "missing-id"),
    (post("g2"), "duplicate-id"),
]


@pytest.mark.parametrize(("row", "kind"), BAD)
def test_a_bad_post_is_told_and_left_out_on_the_users_word(
    engine: EmbeddedEngine, write: Write, row: dict[str, object], kind: str
) -> None:
    path = write("posts.jsonl", lines(*GOOD, row))
    found = check_files(engine, [path], ReadOptions()).problems
    assert [(each.kind, each.lines, each.option) for each in found] == [(kind, (6,), "--skip-bad-rows")]
    with pytest.raises(InputError) as caught:
        read_files(engine, [path])
    assert caught.value.problems == found
    assert ids(engine, [path]) == ["g0", "g1", "g2", "g3", "g4"]


def test_of_posts_with_one_id_the_first_sound_one_stays(engine: EmbeddedEngine, write: Write) -> None:
    path = write("posts.jsonl", lines(*GOOD, post("x", ""), post("x", "first"), post("x", "second")))
    assert ids(engine, [path]).count("x") == 1
    table = read_files(engine, [path], SKIP).table
    assert table.rows("select text from {table} where post_id = 'x'") == [("first",)]


def test_an_id_of_a_file_before_is_repeated_too(engine: EmbeddedEngine, write: Write) -> None:
    paths = [write("a.jsonl", lines(*GOOD)), write("b.jsonl", lines(post("h"), post("g1", "again")))]
    (found,) = check_files(engine, paths, ReadOptions()).problems
    assert (found.kind, found.file, found.lines) == ("duplicate-id", paths[1], (2,))
    assert ids(engine, paths) == ["g0", "g1", "g2", "g3", "g4", "h"]
    reading = read_files(engine, paths, SKIP)
    assert [(each.kind, each.count) for each in reading.problems] == [("duplicate-id", 1)]
    assert reading.table.rows("select text from {table} where post_id = 'g1'") == [("words",)]


def test_a_title_alone_is_words(engine: EmbeddedEngine, write: Write) -> None:
    path = write("posts.jsonl", lines(*(post(f"t{at}", None, title="Which tent") for at in range(3))))
    assert not check_files(engine, [path], ReadOptions()).problems


def test_tables_with_delimiters_have_the_same_rule(engine: EmbeddedEngine, write: Write) -> None:
    rows = [b"post_id,author_id,timestamp,text", *(b"g%d,ann,2024-03-01,words" % at for at in range(5))]
    path = write("posts.csv", b"\n".join([*rows, b"g1,ben,2024-03-02,more", b"n,ben,2024-03-02,"]) + b"\n")
    found = check_files(engine, [path], ReadOptions()).problems
    assert {(each.kind, each.lines) for each in found} == {("duplicate-id", (7,)), ("missing-text", (8,))}
    assert ids(engine, [path]) == ["g0", "g1", "g2", "g3", "g4"]


def test_html_in_json_lines_is_markup_and_not_words(engine: EmbeddedEngine, write: Write) -> None:
    body = "<p>Salt &amp; pepper<br/>a < b, <em>n</em>ot &lt;b&gt;</p>"
    path = write("posts.jsonl", lines(post("h", body, title="R&amp;D <i>now</i>")))
    table = read_files(engine, [path]).table
    assert table.rows("select text, title from {table}") == [("\nSalt & pepper\na < b, not <b>\n", "R&D now")]


def test_queries_in_json_lines_stay_as_they_were_typed(engine: EmbeddedEngine, write: Write) -> None:
    query = {"client_id": "c", "timestamp": "2024-03-01", "user_query": "<b> &amp; tag"}
    table = read_files(engine, [write("log.jsonl", lines(query, query))]).table
    assert table.rows("select user_query from {table}") == [("<b> &amp; tag",)] * 2

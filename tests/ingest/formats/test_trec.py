from __future__ import annotations

import pytest
from format_samples import only_bad, only_row, parsed, sample

from aidos.ingest.formats.trec import TrecQrels, TrecRun


def test_a_line_of_a_run() -> None:
    values = {"query_id": "301", "object_id": "FT911-3", "position": 1, "score": -1.25, "system": "bm25"}
    assert only_row(TrecRun(), "301 Q0 FT911-3 1 -12.5e-1 bm25") == values
    assert only_row(TrecRun(), "301\tQ0  FT911-3\t1 -1.25 bm25 ") == values


def test_a_judgement() -> None:
    assert only_row(TrecQrels(), "301 0 FT911-3 -1") == {"query_id": "301", "object_id": "FT911-3", "relevance": -1}


@pytest.mark.parametrize(
    ("line", "kind", "column"),
    [
        ("301 Q0 secret 1 12.5", "ragged-rows", ""),
        ("301 Q0 secret 1 12.5 my tag", "ragged-rows", ""),
        ("301 Q0 secret first 12.5 tag", "bad-number", "rank"),
        ("301 Q0 secret 1.5 12.5 tag", "bad-number", "rank"),
        ("301 Q0 secret 1_0 12.5 tag", "bad-number", "rank"),
        ("301 Q0 secret 99999999999 12.5 tag", "bad-number", "rank"),
        ("301 Q0 secret 1 high tag", "bad-number", "score"),
        ("301 Q0 secret 1 nan tag", "bad-number", "score"),
        ("301 Q0 secret 1 1e999 tag", "bad-number", "score"),
    ],
)
def test_bad_lines_of_a_run(line: str, kind: str, column: str) -> None:
    bad = only_bad(TrecRun(), line)
    assert (bad.kind, bad.column) == (kind, column)
    assert "secret" not in bad.sentence


@pytest.mark.parametrize(("line", "kind"), [("301 0 secret", "ragged-rows"), ("301 0 secret good", "bad-number")])
def test_bad_judgements(line: str, kind: str) -> None:
    bad = only_bad(TrecQrels(), line)
    assert bad.kind == kind
    assert "secret" not in bad.sentence


def test_blank_lines_are_passed_over_and_counted() -> None:
    assert [row.line for row in parsed(TrecQrels(), "", "301 0 d 1", " ", "301 0 e 0")] == [2, 4]


def test_the_name_of_the_file_helps_where_iterations_differ() -> None:
    lines = ["301 3 d 1", "301 7 e 0"]
    named, unnamed = TrecQrels().recognise(sample(lines, "qrels.txt")), TrecQrels().recognise(sample(lines))
    assert named is not None
    assert unnamed is not None
    assert named.confidence > 0.5 > unnamed.confidence


def test_a_run_without_q0_is_less_sure() -> None:
    seen = TrecRun().recognise(sample(["301 1 d 1 2.5 tag"]))
    assert seen is not None
    assert seen.confidence == 0.4

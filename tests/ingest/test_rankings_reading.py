"""Files of rankings: what is understood of every format, and that nothing but one ranking is held."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from aidos.errors import InputError, ParameterError
from aidos.ingest.options import HowToReadRankings
from aidos.ingest.rankings.reading import read_rankings
from aidos.ingest.rankings.rows import RankingRows

Write = Callable[[str, bytes], str]
RUN = b"q1 Q0 a 1 3.5 bm25\nq1 Q0 b 2 1e-1 bm25\n\nq2 Q0 b 1 7 bm25\n"
CSV = b"qid,docno,relevance,rank,subject_group\nq1,a,3.5,1,x\nq1,b,0.1,2,\nq2,b,7,1,\n"
FLAT = b"".join(
    json.dumps(row).encode() + b"\n"
    for row in (
        {"query_id": "q1", "object_id": "a", "score": 3.5, "position": 1, "group": "x"},
        {"query_id": "q1", "object_id": "b", "score": 0.1, "position": 2},
        {"query_id": "q2", "object_id": "b", "score": 7, "position": 1},
    )
)
NESTED = b"".join(
    json.dumps(row).encode() + b"\n"
    for row in (
        {
            "query_id": "q1",
            "subjects": [
                {"subject_id": "a", "relevance": 3.5, "position": 1, "group": "x"},
                {"subject_id": "b", "relevance": 0.1, "position": 2},
            ],
        },
        {"query_id": "q2", "subjects": [{"subject_id": "b", "relevance": 7, "position": 1}]},
    )
)


def parquet_bytes(columns: dict[str, object], **options: object) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, **options)
    return sink.getvalue().to_pybytes()


PARQUET = parquet_bytes(
    {
        "query_id": ["q1", "q1", "q2"],
        "object_id": ["a", "b", "b"],
        "score": [3.5, 0.1, 7.0],
        "position": [1, 2, 1],
        "subject_group": ["x", None, None],
    }
)


def seen(rankings: Iterable[RankingRows]) -> list[tuple[object, ...]]:
    return [
        (
            found.ranking_id,
            found.query_id,
            found.object_ids,
            found.scores.tolist(),
            None if found.positions is None else found.positions.tolist(),
        )
        for found in rankings
    ]


EXPECTED = [("q1", "q1", ("a", "b"), [3.5, 0.1], [1, 2]), ("q2", "q2", ("b",), [7.0], [1])]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.run", RUN),
        ("r.csv", CSV),
        ("r.csv", CSV.replace(b",", b";")),
        ("r.tsv", CSV.replace(b",", b"\t")),
        ("r.csv", b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n")),
        ("flat.jsonl", FLAT),
        ("nested.jsonl", NESTED),
        ("r.parquet", PARQUET),
        ("run-without-suffix", RUN),
        ("table-without-suffix", CSV),
        ("tabs-without-suffix", CSV.replace(b",", b"\t")),
        ("json-without-suffix", NESTED),
        ("parquet-without-suffix", PARQUET),
    ],
)
def test_every_format_tells_the_same_rankings(write: Write, name: str, content: bytes) -> None:
    rankings = list(read_rankings([write(name, content)]))
    assert seen(rankings) == EXPECTED
    assert rankings[1].groups == ()
    if b"Q0" not in content:
        assert rankings[0].groups == ("x", "")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize(("name", "content"), [("r.run", RUN), ("r.csv", CSV), ("r.jsonl", NESTED), ("r", FLAT)])
def test_compressed_files_are_read_as_they_are(
    write: Write, pack: Callable[[bytes], bytes], name: str, content: bytes
) -> None:
    assert seen(read_rankings([write(name, pack(content))])) == EXPECTED


def test_places_name_the_line_or_the_row_where_a_ranking_begins(write: Write) -> None:
    for name, content, places in (
        ("r.run", RUN, ["line 1", "line 4"]),
        ("r.csv", CSV, ["line 2", "line 4"]),
        ("r.jsonl", NESTED, ["line 1", "line 2"]),
        ("r.parquet", PARQUET, ["row 1", "row 3"]),
    ):
        path = write(name, content)
        assert [found.place for found in read_rankings([path])] == [f"{path}, {place}" for place in places]


def test_patterns_stand_for_all_files_in_order(write: Write) -> None:
    write("b.run", RUN.replace(b"q", b"z"))
    pattern = write("a.run", RUN).replace("a.run", "*.run")
    assert [found.ranking_id for found in read_rankings([pattern])] == ["q1", "q2", "z1", "z2"]


def test_a_format_that_is_named_overrules_the_name_of_the_file(write: Write) -> None:
    assert seen(read_rankings([write("r.csv", RUN)], format="trec")) == EXPECTED
    with pytest.raises(ParameterError, match="no format called xml"):
        read_rankings([write("r.csv", RUN)], format="xml")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", b"r,q,s,who,worth,host_id\nr1,q,u,a,1,h\n"),
        ("r.jsonl", b'{"r": "r1", "q": "q", "s": "u", "who": "a", "worth": 1, "host_id": "h"}\n'),
        ("n.jsonl", b'{"r": "r1", "q": "q", "s": "u", "subjects": [{"who": "a", "worth": 1, "host_id": "h"}]}\n'),
        (
            "r.parquet",
            parquet_bytes({"r": ["r1"], "q": ["q"], "s": ["u"], "who": ["a"], "worth": [1], "host_id": ["h"]}),
        ),
    ],
)
def test_columns_are_renamed_on_the_users_word(write: Write, name: str, content: bytes) -> None:
    renames = {
        "ranking_id": "r",
        "query_id": "q",
        "searcher_id": "s",
        "object_id": "who",
        "score": "worth",
        "actor": "host_id",
    }
    (found,) = read_rankings([write(name, content)], columns=renames)
    assert (found.ranking_id, found.query_id, found.searcher_id, found.object_ids) == ("r1", "q", "u", ("a",))
    assert found.actors == ("h",)
    (unnamed,) = read_rankings([write(name, content)], columns={k: v for k, v in renames.items() if k != "actor"})
    assert unnamed.actors == ()


def test_renames_to_unknown_or_equal_columns_are_refused(write: Write) -> None:
    with pytest.raises(ParameterError, match="no column called host"):
        read_rankings([write("r.run", RUN)], columns={"host": "h"})
    with pytest.raises(ParameterError, match="same column"):
        HowToReadRankings(column=("score=h", "score=i")).read([write("r.run", RUN)], [])


def world_bytes(**options: object) -> bytes:
    """The layout of the sample world: rankings are numbered within each system."""
    systems = ["linear"] * 4 + ["rating"] * 2
    return parquet_bytes(
        {
            "system": systems,
            "ranking": pa.array([1, 1, 2, 2, 1, 1], pa.int32()),
            "query_id": systems,
            "object_id": ["a", "b", "b", "a", "a", "c"],
            "position": pa.array([1, 2] * 3, pa.int32()),
            "score": [2.0, 1.0, 2.0, 1.0, 9.0, 9.0],
            "subject_group": ["h1", "h2", "h2", "h1", "h1", "h1"],
        },
        **options,
    )


def test_rankings_numbered_within_a_system_are_named_after_both(write: Write) -> None:
    path = write("world.parquet", world_bytes())
    assert [found.ranking_id for found in read_rankings([path])] == ["linear/1", "linear/2", "rating/1"]
    (only,) = read_rankings([path], system="rating")
    assert (only.ranking_id, only.system, only.groups) == ("rating/1", "rating", ("h1", "h1"))
    assert only.place.endswith("row 5")


def test_one_system_is_kept_of_several_that_ranked_for_the_same_queries(write: Write) -> None:
    mixed = b"".join(
        b"%s Q0 d%d %d %d %s\n" % (query, i, i, 9 - i, system)
        for query in (b"q1", b"q2")
        for i in (1, 2)
        for system in (b"one", b"two")
    )
    path = write("r.run", mixed)
    kept = list(read_rankings([path], system="two"))
    assert [(found.ranking_id, found.system, found.object_ids) for found in kept] == [
        ("q1", "two", ("d1", "d2")),
        ("q2", "two", ("d1", "d2")),
    ]
    with pytest.raises(InputError, match="several systems") as caught:
        list(read_rankings([path]))
    assert "--system" in caught.value.hint
    with pytest.raises(InputError, match="no row is of the system"):
        list(read_rankings([path], system="three"))


def test_several_systems_may_stay_when_their_rankings_differ(write: Write) -> None:
    path = write("r.run", b"q1 Q0 a 1 1 one\nq2 Q0 a 1 1 two\n")
    assert [found.system for found in read_rankings([path])] == ["one", "two"]


def test_texts_that_polars_wrote_as_views_are_texts(write: Write) -> None:
    texts = {"query_id": ["q", "q"], "object_id": ["a", "b"], "system": ["s", "t"]}
    views = {name: pa.array(values, pa.string_view()) for name, values in texts.items()}
    (only,) = read_rankings([write("r.parquet", parquet_bytes({**views, "score": [2.0, 1.0]}))], system="t")
    assert only.object_ids == ("b",)


def test_a_ranking_may_go_on_over_many_batches_of_a_parquet_file(write: Write) -> None:
    number = 200_000
    content = parquet_bytes(
        {
            "query_id": ["small"] + ["large"] * (number - 2) + ["last"],
            "object_id": pa.array(np.arange(number)),
            "score": np.ones(number, dtype=np.float32),
            "group": ["g"] + [None] * (number - 2) + ["g"],
        },
        row_group_size=30_000,
    )
    small, large, last = read_rankings([write("r.parquet", content)])
    assert (len(small), len(large), len(last)) == (1, number - 2, 1)
    assert large.object_ids[:2] == ("1", "2")
    assert large.object_ids[-1] == str(number - 2)
    assert (small.groups, large.groups, last.place.endswith(f"row {number}")) == (("g",), (), True)


def test_numbers_are_taken_for_ids_in_every_typed_format(write: Write) -> None:
    typed = parquet_bytes({"query_id": [7.0, 7.0], "object_id": pa.array([1, 2], pa.int64()), "score": [1, 2]})
    json_lines = b'{"query_id": 7, "subjects": [{"subject_id": 1, "score": 1}, {"subject_id": 2.0, "score": 2}]}'
    for name, content in (("r.parquet", typed), ("r.jsonl", json_lines)):
        (found,) = read_rankings([write(name, content)])
        assert (found.ranking_id, found.object_ids, found.positions) == ("7", ("1", "2"), None)


def test_a_ranking_without_a_query_is_known_by_its_own_name(write: Write) -> None:
    (found,) = read_rankings([write("r.csv", b"ranking_id,object_id,score\nr,a,1\n")])
    assert (found.ranking_id, found.query_id, found.system) == ("r", "", "")


def test_no_more_than_one_ranking_is_held(write: Write) -> None:
    """The first ranking comes out though the file breaks later on: nothing was read ahead."""
    rows = b"".join(b"q%d Q0 d%d 1 1 t\n" % (i // 3, i) for i in range(3000))
    stream = read_rankings([write("r.run", rows + b"not a run\n")])
    assert len(list(zip(range(900), stream, strict=False))) == 900
    with pytest.raises(InputError, match="line 3001"):
        list(stream)

"""Logs that used to be half read or wrongly advised: every column has a use or is listed, and advice is not wrong."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import wild_samples as wild

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import FileReport, check_files, read_files, write_log

Write = Callable[[str, bytes], str]


def checked(engine: EmbeddedEngine, path: str, **options: object) -> FileReport:
    (file,) = check_files(engine, [path], ReadOptions(**options)).files  # type: ignore[arg-type]
    return file


def suggested(file: FileReport) -> dict[str, str]:
    return {column.could_be: column.name for column in file.unused if column.could_be}


class TestShop:
    def test_what_was_clicked_is_read(self, engine: EmbeddedEngine, write: Write) -> None:
        path = write("shop.csv", wild.shop())
        file = checked(engine, path)
        assert file.problems == ()
        assert file.columns["object_id"] == "clicked_sku"
        assert [column.name for column in file.unused] == ["device"]
        clicks = read_files(engine, [path]).table.rows("select count(*) from {table} where action = 'click'")
        assert clicks == [(wild.ROWS // 2,)]

    @pytest.mark.parametrize("name", ["sku", "product_id", "page_url", "resultLink"])
    def test_a_name_that_may_mean_something_else_is_suggested(
        self, name: str, engine: EmbeddedEngine, write: Write
    ) -> None:
        file = checked(engine, write("shop.csv", wild.shop(name, placed=False)))
        assert file.problems == ()
        assert "object_id" not in file.columns
        assert [(u.name, u.could_be, u.option) for u in file.unused] == [
            (name, "object_id", f"--column object_id={name}"),
            ("device", "", ""),
        ]

    def test_a_position_without_a_result_is_a_problem_with_the_option_to_paste(
        self, engine: EmbeddedEngine, write: Write
    ) -> None:
        path = write("shop.csv", wild.shop("sku"))
        (problem,) = checked(engine, path).problems
        assert (problem.kind, problem.count, problem.lines[:2]) == ("position-without-object", wild.ROWS // 2, (3, 5))
        assert problem.option == "--column object_id=sku"
        assert checked(engine, path, column=("object_id=sku",)).problems == ()

    def test_positions_of_nothing_can_be_dropped(self, engine: EmbeddedEngine, write: Write) -> None:
        path = write("shop.csv", wild.shop("thing"))
        (problem,) = checked(engine, path).problems
        assert problem.option == "--accept position-without-object"
        reading = read_files(engine, [path], ReadOptions(accept=("position-without-object",)))
        assert reading.table.rows('select count(*), count("position") from {table}') == [(wild.ROWS, 0)]

    def test_a_result_without_a_position_is_none(self, engine: EmbeddedEngine, write: Write) -> None:
        rows = b"user,time,query,url,rank\n7,2024-03-01,tent,a,\n7,2024-03-02,tent,b,2\n8,2024-03-03,tent,,\n"
        assert checked(engine, write("a.csv", rows)).problems == ()

    def test_other_actions_than_clicks_may_have_a_position(self, engine: EmbeddedEngine, write: Write) -> None:
        rows = "user,time,query,action,url,rank\n7,2024-03-01,tent,{},,1\n7,2024-03-02,tent,query,,\n"
        assert checked(engine, write("a.csv", rows.format("sort").encode())).problems == ()
        (problem,) = checked(engine, write("b.csv", rows.format("Click").encode())).problems
        assert problem.kind == "position-without-object"

    def test_results_of_which_none_is_called_a_click_are_told(self, engine: EmbeddedEngine, write: Write) -> None:
        rows = "user,time,query,action,url\n7,2024-03-01,tent,search,\n7,2024-03-02,tent,{},a\n"
        (note,) = checked(engine, write("a.csv", rows.format("select_item").encode())).notes
        assert "no action is called click, so rows with a result (1) are no clicks" in note
        assert checked(engine, write("b.csv", rows.format("click").encode())).notes == ()

    def test_parquet_is_looked_at_alike(self, engine: EmbeddedEngine, write: Write) -> None:
        path = write("shop.parquet", b"")
        names, *rows = [line.split(",") for line in wild.shop("sku").decode().splitlines()]
        columns = {name: [row[place] or None for row in rows] for place, name in enumerate(names)}
        pq.write_table(pa.table(columns), path)
        file = checked(engine, path)
        assert [problem.kind for problem in file.problems] == ["position-without-object"]
        assert suggested(file) == {"object_id": "sku"}
        assert [column.name for column in file.unused] == ["sku", "device"]

    def test_columns_that_hold_no_text_or_fields_of_their_own_are_listed_and_do_no_harm(
        self, engine: EmbeddedEngine, write: Write
    ) -> None:
        path = write("log.parquet", b"")
        people = [f"p{number % 9}" for number in range(60)]
        columns = {
            "who": [{"user": name, "age": 7} for name in people],
            "time": ["2024-03-01"] * 60,
            "query": ["tent"] * 60,
            "page": [b"\xff\xfe\0"] * 60,
            "product": [f"A{number % 7}" for number in range(60)],
        }
        pq.write_table(pa.table(columns), path)
        file = checked(engine, path, column=("client_id=who.user",))
        assert (file.problems, file.people) == ((), 9)
        assert [(column.name, column.could_be) for column in file.unused] == [("page", ""), ("product", "object_id")]


class TestElasticsearchSlowLog:
    def test_no_constant_and_no_key_becomes_the_person(self, engine: EmbeddedEngine, write: Write) -> None:
        file = checked(engine, write("slow.json", wild.slow_log()))
        assert [(problem.column, problem.option) for problem in file.problems] == [
            ("client_id", "--column client_id=NAME"),
            ("user_query", "--column user_query=NAME"),
        ]
        assert "none of its columns looks like it (user.name says the same in every row)" in file.problems[0].remedy

    def test_nor_does_one_of_two_services(self, engine: EmbeddedEngine, write: Write) -> None:
        file = checked(engine, write("slow.json", wild.slow_log(("storefront", "kibana"))))
        assert "user.name says one of only 2 things" in file.problems[0].remedy

    def test_people_are_suggested_where_it_knows_them(self, engine: EmbeddedEngine, write: Write) -> None:
        users = [f"anna{number}" for number in range(31)]
        file = checked(engine, write("slow.json", wild.slow_log(users)))
        assert file.problems[0].option == "--column client_id=user.name"


class TestDiscourse:
    def test_posts_are_posts(self, engine: EmbeddedEngine, write: Write) -> None:
        file = checked(engine, write("posts.csv", wild.discourse()))
        assert (file.problems, file.schema, file.people) == ((), "posts", 29)
        assert (file.columns["author_id"], file.columns["text"]) == ("username", "raw")

    def test_the_body_is_never_the_author(self, engine: EmbeddedEngine, write: Write) -> None:
        file = checked(engine, write("posts.csv", wild.discourse(with_author=False)))
        assert file.schema == "posts"
        assert {problem.column: problem.option for problem in file.problems} == {
            "post_id": "--column post_id=NAME",
            "author_id": "--column author_id=NAME",
        }


class TestWithoutHeader:
    def test_ratings_are_no_judgements(self, engine: EmbeddedEngine, write: Write) -> None:
        file = checked(engine, write("u.data", wild.movielens()))
        assert file.format == "csv"
        assert {problem.column: problem.option for problem in file.problems} == {
            "client_id": "--column client_id=NAME",
            "timestamp": "--column timestamp=c4",
            "user_query": "--column user_query=NAME",
        }
        assert "c1 or c2 may be it" in file.problems[0].remedy

    def test_ratings_that_end_with_the_rating_are_not_taken_for_judgements_unasked(
        self, engine: EmbeddedEngine, write: Write
    ) -> None:
        rows = b"".join(b"%d\t%d\t%d\t%d\n" % (n % 9, n % 31, 881250949 + n, n % 5) for n in range(50))
        (problem,) = check_files(engine, [write("u.data", rows)]).problems
        assert problem.kind == "unsure-format"
        assert "TREC relevance judgements (qrels) and delimited text (CSV, TSV)" in problem.sentence
        assert (problem.option, "--format csv" in problem.remedy) == ("--format trec-qrels", True)

    @pytest.mark.parametrize("year", [2008, 2012])
    def test_a_query_log_is_no_run(self, year: int, engine: EmbeddedEngine, write: Write) -> None:
        file = checked(engine, write("sogou.log", wild.sogou(year=year)))
        assert file.format == "csv"
        assert "c2" in file.problems[0].remedy
        assert file.problems[0].option == "--column client_id=NAME"

    def test_a_query_log_of_2012_is_read_once_its_columns_are_told(self, engine: EmbeddedEngine, write: Write) -> None:
        column = ("client_id=c2", "timestamp=c1", "user_query=c3", "position=c4", "object_id=c6")
        options = {"column": column, "time_format": "%Y%m%d%H%M%S"}
        file = checked(engine, write("sogou.log", wild.sogou(year=2012)), **options)
        assert (file.problems, file.people, [unused.name for unused in file.unused]) == ((), 37, ["c5"])

    def test_posts_without_a_header_are_no_search_log(self, engine: EmbeddedEngine, write: Write) -> None:
        rows = b"".join(b"%d\tA title\t2024-03-01 10:00:00\tanna\tMany words of text\n" % n for n in range(50))
        assert checked(engine, write("posts.tsv", rows)).format == "csv"


def test_exports_of_web_analytics_are_read(engine: EmbeddedEngine, write: Write) -> None:
    google = checked(engine, write("ga4.csv", wild.google_analytics()))
    assert (google.problems, google.people) == ((), 23)
    assert suggested(google) == {"session_id": "ga_session_id"}
    matomo = checked(engine, write("matomo.csv", wild.matomo()))
    assert (matomo.problems, matomo.people, matomo.columns["session_id"]) == ((), 40, "idVisit")


class TestRelease:
    """Whether a release is refused is told by the line of names and the options, and by no row."""

    ASKS = ReadOptions(for_release=True, needed=frozenset({"user_query", "object_id"}))

    @pytest.mark.parametrize("rows", [b"", b"7,2024-03-01,tent,,\n", b'"broken\n', b"7,2024-03-01,tent,a,1\n" * 9])
    def test_clicks_without_a_column_are_refused_whatever_the_rows(
        self, rows: bytes, engine: EmbeddedEngine, write: Write
    ) -> None:
        path = write("shop.csv", b"user,time,query,sku,position\n" + rows)
        with pytest.raises(InputError) as caught:
            read_files(engine, [path], self.ASKS)
        (found,) = [problem for problem in caught.value.problems if problem.kind == "missing-column"]
        assert found.option == "--column object_id=sku"

    def test_the_person_is_never_suggested_by_name_alone(self, engine: EmbeddedEngine, write: Write) -> None:
        path = write("shop.csv", b"user_key,time,query\n7,2024-03-01,tent\n")
        with pytest.raises(InputError) as caught:
            read_files(engine, [path], ReadOptions(for_release=True))
        assert caught.value.problems[0].option == "--column client_id=NAME"

    @pytest.mark.parametrize(
        ("format_", "content"),
        [
            ("excite", b"2A9EABFB35F5B954\t970916105432\tsolar stove\n"),
            ("solr", b"2024-05-01 10:11:12.345 INFO x path=/select params={q=tent&user=u1} hits=4 status=0\n"),
        ],
    )
    def test_formats_without_clicks_are_refused(
        self, format_: str, content: bytes, engine: EmbeddedEngine, write: Write
    ) -> None:
        path = write("log", content)
        with pytest.raises(InputError, match="does not hold the object_id"):
            read_files(engine, [path], ReadOptions(for_release=True, format=format_, needed=self.ASKS.needed))
        assert read_files(engine, [path], ReadOptions(for_release=True, format=format_)).table.count() == 1

    def test_in_json_lines_the_field_is_declared(self, engine: EmbeddedEngine, write: Write) -> None:
        row = {"client_id": "7", "timestamp": "2024-03-01", "user_query": "tent", "clicked": "a"}
        path = write("log.jsonl", wild.lines([row]))
        asks = {"for_release": True, "format": "jsonl", "needed": self.ASKS.needed}
        with pytest.raises(InputError) as caught:
            read_files(engine, [path], ReadOptions(**asks))  # type: ignore[arg-type]
        assert caught.value.problems[0].option == "--column object_id=object_id"
        reading = read_files(engine, [path], ReadOptions(**asks, column=("object_id=clicked",)))  # type: ignore[arg-type]
        assert reading.table.rows("select action, object_id from {table}") == [("click", "a")]

    def test_what_was_not_read_is_not_there_in_what_was_written(
        self, engine: EmbeddedEngine, write: Write, tmp_path: object
    ) -> None:
        path, target = write("shop.csv", wild.shop("thing", placed=False)), f"{tmp_path}/log.parquet"
        write_log(read_files(engine, [path]), target)
        with pytest.raises(InputError, match="no column holds the object_id"):
            read_files(engine, [target], self.ASKS)
        write_log(read_files(engine, [path], ReadOptions(column=("object_id=thing",))), target)
        assert read_files(engine, [target], self.ASKS).table.count() == wild.ROWS
        assert "object_id" in checked(engine, target).columns


def test_compressed_files_are_advised_alike(engine: EmbeddedEngine, write: Write) -> None:
    plain = checked(engine, write("shop.csv", wild.shop("sku")))
    packed = checked(engine, write("shop.csv.gz", gzip.compress(wild.shop("sku"))))
    assert (plain.unused, plain.columns) == (packed.unused, packed.columns)

from __future__ import annotations

from collections.abc import Callable

import pytest

from aidos.errors import ParameterError, Problem
from aidos.ingest.formats.base import Sample, choose_delimiter, header_delimiter, suggest_delimiter, usual_quotes
from aidos.ingest.options import ReadOptions
from aidos.ingest.recognise import Choice, format_names, recognise, take_sample
from aidos.ingest.sources import find_sources
from aidos.ingest.timestamps import suggest_time_format

Write = Callable[[str, bytes], str]
AOL = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n7\tx\t2006-03-01 10:00:00\t\t\n"


def recognised(write: Write, content: bytes, options: ReadOptions | None = None) -> Choice | Problem:
    (source,), _ = find_sources([write("file", content)])
    return recognise(source, take_sample(source), options or ReadOptions())


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        (AOL, "aol", "names the columns"),
        (AOL.split(b"\n", 1)[1] * 3, "aol", "five tab-separated columns"),
        (b"2A9EABFB35F5B954\t970916105432\tmd foods\n", "excite", "yymmddHHMMSS"),
        (b"user,time,query\n7,2006-03-01,x\n", "csv", "names of a table"),
        (b"7;2006-03-01;x\n8;2006-03-01;y\n", "csv", "3 columns"),
        (b'{"user": "7", "time": "2006-03-01", "query": "x"}\n', "jsonl", "JSON"),
    ],
)
def test_formats_are_told_apart_with_a_reason(write: Write, content: bytes, name: str, why: str) -> None:
    choice = recognised(write, content)
    assert isinstance(choice, Choice)
    assert choice.format.name == name
    assert why in choice.why


def test_the_user_overrules(write: Write) -> None:
    by_format = recognised(write, AOL, ReadOptions(format="csv"))
    by_delimiter = recognised(write, AOL, ReadOptions(delimiter="\t"))
    by_column = recognised(write, AOL, ReadOptions(column=("client_id=AnonID",)))
    assert [choice.format.name for choice in (by_format, by_delimiter, by_column)] == ["csv"] * 3  # type: ignore[union-attr]
    with pytest.raises(ParameterError, match="klingon"):
        recognised(write, AOL, ReadOptions(format="klingon"))


def test_only_a_close_runner_up_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = AOL.split(b"\n", 1)[1] * 3
    far = recognised(write, rows)
    monkeypatch.setattr("aidos.ingest.recognise.CLOSE", 0.5)
    near = recognised(write, rows)
    assert isinstance(far, Choice)
    assert isinstance(near, Choice)
    assert "could also be" not in far.why
    assert near.why.endswith("it could also be delimited text (CSV, TSV) (--format csv)")


def test_names_of_formats_are_unique() -> None:
    assert len(set(format_names())) == len(format_names())
    assert {"aol", "excite", "csv", "parquet", "ubi", "jsonl"} <= set(format_names())


def test_a_sample_has_whole_lines_whatever_their_ends(write: Write) -> None:
    (source,), _ = find_sources([write("a", b"\xef\xbb\xbfone\r\ntwo\rstill two\nthree \xe2\x80\xa8 still three\n")])
    assert take_sample(source) == Sample("a", ("one", "two\rstill two", "three \u2028 still three"))
    (source,), _ = find_sources([write("b", b"line\n" * 1_000_000)])
    assert set(take_sample(source).lines) == {"line"}


class TestDelimiters:
    def test_the_one_that_cuts_all_lines_alike_is_chosen(self) -> None:
        assert choose_delimiter(["a,b\tc", "d\te,f,g"]) == "\t"
        assert choose_delimiter(["a;b;c", '"x;y";z;"w"']) == ";"
        assert choose_delimiter(["no columns here", "none"]) == ""
        assert choose_delimiter([]) == ""

    def test_line_ends_inside_quotes_do_not_disturb(self) -> None:
        assert choose_delimiter(["a,b", '"one', 'two",3', '"x', 'y",4']) == ","

    def test_unusual_ones_are_only_suggested(self) -> None:
        assert choose_delimiter(["a^b", "c^d"]) == ""
        assert suggest_delimiter(["a^b", "c^d"], ",") == "^"
        assert suggest_delimiter(["some plain prose", "and more of it"], ",") == ""

    def test_the_line_of_names_decides_and_no_row_does(self) -> None:
        assert header_delimiter("user;time;query,text") == ";"
        assert header_delimiter('"user,id"|time') == "|"
        assert header_delimiter("one") == ""

    def test_quotes_in_tab_separated_files_are_text_unless_the_names_stand_in_quotes(self) -> None:
        assert usual_quotes("user\tquery", "\t") == "none"
        assert usual_quotes('"user"\t"query"', "\t") == "line"
        assert usual_quotes("user,query", ",") == "line"


class TestTimes:
    def test_the_rest_is_suggested(self) -> None:
        assert suggest_time_format(["13.03.2006 10:00", "01.04.2006 11:30"]) == "%d.%m.%Y %H:%M"
        assert suggest_time_format(["3/14/2006 1:00:00 PM"]) == "%m/%d/%Y %I:%M:%S %p"
        assert suggest_time_format(["soon", "01.04.2006"]) == ""
        assert suggest_time_format([]) == ""

from __future__ import annotations

import pytest
from format_samples import FILES, POST, SOLR, as_lines, sample
from hypothesis import given
from hypothesis import strategies as st

from aidos.ingest.formats import DELIMITED_FORMATS, LINE_FORMATS
from aidos.ingest.formats.base import Sample

DELIMITED = {format_.name: format_ for format_ in DELIMITED_FORMATS}
FORMATS = {format_.name: format_ for format_ in (*DELIMITED_FORMATS, *LINE_FORMATS)}


@pytest.mark.parametrize("name", FILES)
def test_the_right_format_wins_by_a_clear_distance(name: str) -> None:
    right, lines = FILES[name]
    by_header = [key for key, format_ in DELIMITED.items() if format_.by_header(lines[0], {})]
    if by_header:
        assert by_header[0] == right
        return
    found = {key: seen for key, format_ in FORMATS.items() if (seen := format_.recognise(sample(lines))) is not None}
    assert right in found
    runner_up = max((seen.confidence for key, seen in found.items() if key != right), default=0.0)
    assert found[right].confidence >= runner_up + 0.1


@pytest.mark.parametrize("name", FILES)
def test_reasons_quote_no_cell(name: str) -> None:
    right, lines = FILES[name]
    by_header = DELIMITED[right].by_header(lines[0], {}) if right in DELIMITED else ""
    seen = FORMATS[right].recognise(sample(lines))
    assert by_header or seen is not None
    why = f"{by_header} {seen}"
    assert not any(cell in why for cell in ("garden", "tent", "Rental", "c1", "u1", "142", "boat", "FT911"))


def test_names_are_unique_and_every_line_format_maps_to_columns_of_its_schema() -> None:
    assert len(FORMATS) == len(DELIMITED_FORMATS) + len(LINE_FORMATS)
    for format_ in LINE_FORMATS:
        assert set(format_.columns().values()) <= set(format_.schema.names())


def test_a_few_broken_lines_do_not_hide_a_format() -> None:
    for right in ("ubi events", "elastic nested", "qlogs", "canonical json"):
        name, lines = FILES[right]
        assert FORMATS[name].recognise(sample((*lines, *lines, "{broken"))) is not None


def test_a_solr_log_may_begin_with_other_lines() -> None:
    lines = ("2024-05-01 10:11:12.345 INFO  (main) starting", SOLR.format(path="/update", params="wt=json"))
    seen = FORMATS["solr"].recognise(sample(lines))
    assert seen is not None
    assert seen.confidence == 1.0


def test_files_of_queries_that_look_like_judgements_here_and_there_are_not_judgements() -> None:
    lines = ("red tent size 4", "chair 0 wood 2", "how to sleep in a tent", "tent")
    assert FORMATS["trec-qrels"].recognise(sample(lines)) is None


def test_other_xml_is_not_posts() -> None:
    other = ("<users>", '  <row Id="1" DisplayName="x" />')
    assert FORMATS["stackexchange"].recognise(sample(other)) is None
    assert FORMATS["stackexchange"].recognise(sample((POST.format(id=1, kind=1), *other * 3))) is None


def test_nothing_is_recognised_in_an_empty_sample() -> None:
    for format_ in LINE_FORMATS:
        assert format_.recognise(Sample("file")) is None
        assert format_.recognise(sample(("", "  "))) is None


@given(
    st.lists(st.one_of(st.text(max_size=60), st.sampled_from([line for _, lines in FILES.values() for line in lines])))
)
def test_recognising_never_raises(lines: list[str]) -> None:
    for format_ in LINE_FORMATS:
        seen = format_.recognise(sample(lines))
        assert seen is None or 0 < seen.confidence <= 1


def test_odd_json_is_no_trouble_for_recognisers() -> None:
    odd = (*as_lines({}, [], 1, None, {"event": "search"}, {"index": 3}, {"items": 5}), "[" * 5000, '{"a":' * 5000)
    for format_ in LINE_FORMATS:
        seen = format_.recognise(sample(odd))
        assert seen is None or seen.confidence < 1, "odd JSON has no format's own marks"

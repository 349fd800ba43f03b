"""Pairs from every form that they are saved in: the same pairs come out, whatever they were in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from saved_lists import (
    PAIRS,
    answers,
    archive,
    flat_rows,
    page,
    pages,
    pair_lines,
    run,
    serps,
    write_json,
    write_lines,
    write_parquet,
    write_table,
)

from aidos.core.resultpairs import Fetch, Result, ResultPair
from aidos.errors import InputError, ParameterError
from aidos.ingest.results.reading import PairsRead, read_pairs

Shape = dict[str, dict[str, str]]


def letters(results: tuple[Result, ...]) -> str:
    return "".join(result.url[-1] for result in results)


def shape(pairs: tuple[ResultPair, ...]) -> Shape:
    found = {}
    for pair in pairs:
        lists = {"vanilla": letters(pair.vanilla), "personalised": letters(pair.personalised)}
        found[pair.query] = lists | ({"again": letters(pair.again)} if pair.again is not None else {})
    return found


def by_side(folder: Path, write: Callable[[Path, str], object]) -> str:
    for side in ("vanilla", "personalised", "again"):
        write(folder, side)
    return str(folder)


def searxng_files(folder: Path, side: str) -> None:
    for number, answer in enumerate(answers(side)):
        write_json(folder / side / f"{number}.json", answer, indent=1)


def searxng_lines(folder: Path, side: str) -> None:
    write_lines(folder / f"{side}-lists.jsonl", answers(side))


def websearcher_records(folder: Path, side: str) -> None:
    searches, parsed = serps(side)
    write_lines(folder / side / "searches.json", searches)
    write_lines(folder / side / "parsed.json", parsed)


def websearcher_rows(folder: Path, side: str) -> None:
    searches, parsed = serps(side)
    write_lines(folder / side / "zz_searches.json", searches)
    rows = [{**row, "serp_id": one["serp_id"], "timestamp": "1 day ago"} for one in parsed for row in one["results"]]
    write_lines(folder / side / "results.json", rows)


def old_websearcher_rows(folder: Path, side: str) -> None:
    searches, parsed = serps(side)
    queries = {search["serp_id"]: search["qry"] for search in searches}
    rows = [
        {**row, "serp_id": one["serp_id"], "qry": queries[one["serp_id"]], "lang": "en"}
        for one in parsed
        for row in one["results"]
    ]
    write_lines(folder / side / "results.json", rows)


def har_files(folder: Path, side: str) -> None:
    write_json(folder / f"{side}.har", archive(side))


def encoded_har_files(folder: Path, side: str) -> None:
    write_json(folder / f"{side}.har", archive(side, encoded=True, named=False), indent=2)


@pytest.mark.parametrize(
    "write",
    [
        searxng_files,
        searxng_lines,
        websearcher_records,
        websearcher_rows,
        old_websearcher_rows,
        har_files,
        encoded_har_files,
    ],
)
def test_directories_of_saved_lists_give_the_pairs(tmp_path: Path, write: Callable[[Path, str], object]) -> None:
    found = read_pairs([by_side(tmp_path / "lists", write)])
    assert shape(found.pairs) == PAIRS
    first = found.pairs[0].vanilla[0]
    assert (first.title, first.snippet) == ("Title a", "Words of a")


FILES: dict[str, Callable[[Path], str]] = {
    "pair lines": lambda at: write_lines(at / "pairs.jsonl", pair_lines()),
    "pair array": lambda at: write_json(at / "pairs.json", pair_lines(), indent=2),
    "pair rows": lambda at: write_parquet(at / "pairs.parquet", pair_lines()),
    "rows in lines": lambda at: write_lines(at / "rows.jsonl", flat_rows()),
    "rows in an array": lambda at: write_json(at / "rows.json", flat_rows()),
    "rows in csv": lambda at: write_table(at / "rows.csv", flat_rows()),
    "rows in tsv": lambda at: write_table(at / "rows.tsv", flat_rows(), "\t"),
    "rows in parquet": lambda at: write_parquet(at / "rows.parquet", flat_rows()),
}


@pytest.mark.parametrize("form", FILES)
def test_files_of_pairs_give_the_pairs(tmp_path: Path, form: str) -> None:
    found = read_pairs([FILES[form](tmp_path)])
    assert shape(found.pairs) == PAIRS
    assert found.pairs[1].personalised[0] == Result(**_result("g"))
    assert not found.problems


def _result(letter: str) -> dict[str, str]:
    known = page(letter)
    return {"url": known["url"], "title": known["title"], "snippet": known["content"]}


def test_compressed_files_and_marks_at_their_beginning_are_read(tmp_path: Path) -> None:
    plain = (tmp_path / "plain.jsonl", "".join(json.dumps(entry) + "\n" for entry in pair_lines()))
    packed = tmp_path / "pairs.jsonl.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + plain[1].encode()))
    assert shape(read_pairs([str(packed)]).pairs) == PAIRS


def test_lines_longer_than_the_first_look_are_read(tmp_path: Path) -> None:
    lines = pair_lines()
    for line in lines:
        line["vanilla"][0]["content"] = "long " * 40_000
    assert shape(read_pairs([write_lines(tmp_path / "pairs.jsonl", lines)]).pairs) == PAIRS


def test_files_are_of_the_side_that_an_option_says(tmp_path: Path) -> None:
    one = write_lines(tmp_path / "one.jsonl", answers("vanilla"))
    two = write_lines(tmp_path / "two.jsonl", answers("personalised"))
    three = write_lines(tmp_path / "three.jsonl", answers("again"))
    assert shape(read_pairs(vanilla=[one], personalised=[two], again=[three]).pairs) == PAIRS


def test_tables_without_a_list_column_are_of_the_side_of_their_name(tmp_path: Path) -> None:
    for side in ("vanilla", "personalised", "again"):
        rows = [
            {key: row[key] for key in ("query", "url", "title", "snippet")}
            for row in flat_rows()
            if row["list"] == side
        ]
        write_table(tmp_path / f"{side}.csv", rows)
    assert shape(read_pairs([str(tmp_path)]).pairs) == PAIRS


def numbered(shape_of: Shape) -> Shape:
    return {f"q{number}": lists for number, lists in enumerate(shape_of.values())}


def test_runs_give_pairs_with_the_texts_of_their_documents(tmp_path: Path) -> None:
    for side in ("vanilla", "personalised", "again"):
        (tmp_path / f"{side}.run").write_text(run(side))
    known = [{"docno": f"doc-{letter}", **page(letter)} for letter in "abcdefg"]
    write_lines(tmp_path / "documents.jsonl", known)
    found = read_pairs([str(tmp_path)])
    assert shape(found.pairs) == numbered(PAIRS)
    assert found.pairs[0].vanilla[0] == Result(**_result("a"))


def test_a_run_may_name_its_side_by_its_tag_and_have_no_documents(tmp_path: Path) -> None:
    both = tmp_path / "both.txt"
    both.write_text(run("vanilla", "vanilla") + run("personalised", "Personalized") + run("again", "vanilla-again"))
    found = read_pairs([str(both)])
    assert shape(found.pairs) == numbered(PAIRS)
    assert found.pairs[0].vanilla[0] == Result(url="doc-a")


def test_documents_need_no_address_and_may_be_a_table(tmp_path: Path) -> None:
    both = tmp_path / "both.run"
    both.write_text(run("vanilla", "vanilla") + run("personalised", "personalised"))
    texts = write_table(tmp_path / "texts.csv", [{"id": f"doc-{x}", "text": f"all of {x}"} for x in "abcdefg"])
    found = read_pairs([str(both)], documents=[texts])
    assert found.pairs[0].vanilla[0] == Result(url="doc-a", snippet="all of a")


def test_ads_and_other_kinds_are_left_out_and_counted(tmp_path: Path) -> None:
    found = read_pairs([by_side(tmp_path, websearcher_records)])
    assert (found.counts.ads, found.counts.others) == (5, 15)
    assert any("5 advertisements" in note for note in found.notes)
    assert any("15 results that are not organic" in note for note in found.notes)


def test_columns_of_kinds_are_heeded(tmp_path: Path) -> None:
    line = {
        "query": "q",
        "vanilla": [{**page("a"), "kind": "Organic"}, {**page("b"), "kind": "sponsored"}, page("c")],
        "personalised": [{**page("c"), "kind": "map"}, page("c"), page("a")],
    }
    found = read_pairs([write_lines(tmp_path / "pairs.jsonl", [line])])
    assert shape(found.pairs) == {"q": {"vanilla": "ac", "personalised": "ca"}}
    assert (found.counts.ads, found.counts.others) == (1, 1)


def test_fields_called_type_in_answers_of_searxng_mean_something_else(tmp_path: Path) -> None:
    for side in ("vanilla", "personalised"):
        known = [{**answer, "results": [{**x, "type": "video"} for x in answer["results"]]} for answer in answers(side)]
        write_lines(tmp_path / f"{side}.jsonl", known)
    assert len(read_pairs([str(tmp_path)]).pairs) == 2


def test_the_same_address_counts_once_in_a_list(tmp_path: Path) -> None:
    twice = [page("a"), page("b"), {"url": "HTTPS://SITE.example/a#part", "title": "once more"}]
    line = {"query": "q", "vanilla": twice, "personalised": pages("ba")}
    found = read_pairs([write_lines(tmp_path / "pairs.jsonl", [line])])
    assert shape(found.pairs) == {"q": {"vanilla": "ab", "personalised": "ba"}}
    assert found.pairs[0].vanilla[0].title == "Title a"
    assert found.counts.repeated == 1
    assert any("count once" in note for note in found.notes)


def test_results_may_be_bare_addresses_whose_words_are_then_used(tmp_path: Path) -> None:
    bare = ["https://www.garden.example/growing/roses.html", "https://site.example/x9f8e7d6c5b4"]
    line = {"query": "q", "vanilla": bare, "personalised": bare[::-1]}
    first = read_pairs([write_lines(tmp_path / "pairs.jsonl", [line])]).pairs[0].vanilla[0]
    assert not first.title
    assert first.words == "garden growing roses"
    assert first.text == "garden growing roses"


def test_positions_order_the_rows_wherever_they_stand(tmp_path: Path) -> None:
    rows = flat_rows()[::-1]
    found = read_pairs([write_table(tmp_path / "rows.csv", rows)])
    assert shape(found.pairs) == PAIRS


def test_rows_without_position_keep_the_order_of_the_file(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "position"} for row in flat_rows()]
    assert shape(read_pairs([write_table(tmp_path / "rows.csv", rows)]).pairs) == PAIRS


def test_a_query_asked_twice_gives_two_pairs(tmp_path: Path) -> None:
    lines = [
        {"query": "q", "vanilla": pages("ab"), "personalised": pages("ba")},
        {"query": "q", "vanilla": pages("cd"), "personalised": pages("dc"), "again": pages("cd")},
    ]
    first, second = read_pairs([write_lines(tmp_path / "pairs.jsonl", lines)]).pairs
    assert first.again is None
    assert second.again is not None
    for side in ("vanilla", "personalised"):
        write_lines(tmp_path / "lists" / f"{side}.jsonl", [{"query": "q", "results": line[side]} for line in lines])
    found = read_pairs([str(tmp_path / "lists")]).pairs
    assert [letters(pair.vanilla) for pair in found] == ["ab", "cd"]
    assert [letters(pair.personalised) for pair in found] == ["ba", "dc"]


def test_pair_ids_tell_pairs_of_the_same_query_apart(tmp_path: Path) -> None:
    rows = [
        {"pair_id": pair, "query": "q", "list": side, "url": f"https://site.example/{letter}"}
        for pair, lists in ((1, {"vanilla": "ab", "personalised": "ba"}), (2, {"personalised": "dc", "vanilla": "cd"}))
        for side, found in lists.items()
        for letter in found
    ]
    for path in (write_parquet(tmp_path / "rows.parquet", rows), write_table(tmp_path / "rows.csv", rows)):
        found = read_pairs([path]).pairs
        assert [(pair.query, letters(pair.vanilla), letters(pair.personalised)) for pair in found] == [
            ("q", "ab", "ba"),
            ("q", "cd", "dc"),
        ]


def test_times_and_places_are_kept(tmp_path: Path) -> None:
    pair = read_pairs([by_side(tmp_path, websearcher_records)]).pairs[0]
    assert pair.when == datetime(2026, 3, 1, 10, 0)  # noqa: DTZ001
    assert pair.gap == timedelta(minutes=1)
    assert pair.place == "Saarland,Germany"
    har = read_pairs([by_side(tmp_path / "har", har_files)])
    assert har.pairs[0].when == datetime(2026, 3, 1, 10, 0)  # noqa: DTZ001
    assert any("9 responses of HAR files" in note for note in har.notes)


def test_different_places_are_told(tmp_path: Path) -> None:
    rows = [{**row, "place": row["list"]} for row in flat_rows()]
    found = read_pairs([write_table(tmp_path / "rows.csv", rows)])
    assert found.counts.other_places == 2
    assert any("different places" in note for note in found.notes)


def test_text_in_any_script_is_kept(tmp_path: Path) -> None:
    line: dict[str, Any] = {"query": "запрос 検索", "vanilla": pages("ab"), "personalised": pages("ba")}
    line["vanilla"][0]["title"] = "Заголовок 🙂"
    pair = read_pairs([write_lines(tmp_path / "pairs.jsonl", [line])]).pairs[0]
    assert pair.query == "запрос 検索"
    assert pair.vanilla[0].title == "Заголовок 🙂"


def test_what_was_read_is_told_by_form(tmp_path: Path) -> None:
    found: PairsRead = read_pairs([by_side(tmp_path, searxng_files)])
    assert found.formats == {"SearXNG answers": 5}


def test_hidden_files_are_passed_over(tmp_path: Path) -> None:
    by_side(tmp_path, searxng_files)
    (tmp_path / ".DS_Store").write_bytes(b"\0\1")
    assert len(read_pairs([str(tmp_path)]).pairs) == 2


def test_no_file_is_a_wrong_call() -> None:
    with pytest.raises(ParameterError, match="no file was named"):
        read_pairs()


def test_rows_say_how_each_list_was_fetched(tmp_path: Path) -> None:
    told = {
        "vanilla": {"location": "Bern", "order": 2, "variant": "a"},
        "personalised": {"location": "Genf", "order": 1, "variant": 7},
    }
    rows = [{**row, **told[row["list"]]} for row in flat_rows() if row["list"] in told]
    pair = read_pairs([write_lines(tmp_path / "rows.jsonl", rows)]).pairs[0]
    assert pair.fetch("vanilla") == Fetch(place="Bern", turn=2, bucket="a")
    assert pair.fetch("personalised") == Fetch(place="Genf", turn=1, bucket="7")
    rows[0]["order"] = "first"
    with pytest.raises(InputError, match="order is not a whole number"):
        read_pairs([write_lines(tmp_path / "rows.jsonl", rows)])


def test_a_pair_says_how_its_lists_were_fetched_and_nothing_else_does(tmp_path: Path) -> None:
    lists = {"vanilla": ["https://a.example/"], "personalised": ["https://b.example/"]}
    fetches = {"vanilla": {"turn": 1, "when": "2026-03-01T10:00:00"}, "personalised": {"turn": 2}}
    told = {"query": "q", **lists, "place": "Bern", "fetches": fetches}
    pair = read_pairs([write_lines(tmp_path / "p.jsonl", [told])])
    assert pair.pairs[0].fetch("personalised") == Fetch(place="Bern", turn=2)
    assert pair.pairs[0].fetch("vanilla") == Fetch(place="Bern", turn=1, when=datetime(2026, 3, 1, 10))  # noqa: DTZ001
    for bad in ("now", {"twice": {"turn": 1}}, {"vanilla": 3}):
        with pytest.raises(InputError, match="fetches"):
            read_pairs([write_lines(tmp_path / "p.jsonl", [{"query": "q", **lists, "fetches": bad}])])

"""Saved pages of SearXNG are read as its answers in JSON are; other pages are refused."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest
from saved_lists import PAIRS, answers, page, write_json

from aidos.core.resultpairs import ResultPair
from aidos.errors import InputError
from aidos.ingest.results.reading import read_pairs

SIDES = ("vanilla", "personalised", "again")


def saved_page(query: str, letters: str) -> str:
    """A page with the parts that matter and some that do not: an infobox, a picture, links to caches, suggestions."""
    found = "".join(
        f"""<article class="result result-default category-general one two">
        <a href="{page(letter)["url"]}" class="url_header"><span class="url_o1">site.example</span></a>
        <h3><a href="{page(letter)["url"]}" rel="noreferrer">Title <span class="highlight">{letter}</span></a></h3>
        <time class="published_date">2026</time>
        <p class="content">
          Words of <span class="highlight">{letter}</span> &amp; more
        </p>
        <div class="engines"><span>one</span><a href="https://cache.example/{letter}">cached</a></div>
        </article>"""
        for letter in letters
    )
    picture = """<article class="result result-images category-images"><a href="https://pictures.example/p.png">
        <img src="x"><span class="title">A picture</span></a><div><h4>A picture</h4></div></article>"""
    return f"""<!DOCTYPE html><html class="results"><head><title>{html.escape(query)}</title></head><body>
        <form id="search"><input id="q" name="q" type="text" value="{html.escape(query)}"></form>
        <div id="results"><div id="sidebar"><article class="infobox"><h2>Box</h2><p class="content">box</p></article>
        <input type="hidden" name="q" value="another"></div>
        <div id="urls" role="main">{picture}{found}</div></div></body></html>"""


def without_more(pairs: tuple[ResultPair, ...]) -> list[tuple[str, list[str]]]:
    return [(pair.query, [result.url for result in pair.personalised]) for pair in pairs]


def save(folder: Path, write: str) -> str:
    for side in SIDES:
        for number, (query, lists) in enumerate(PAIRS.items()):
            if side in lists:
                path = folder / side / f"{number}.html"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(write.format(saved_page(query, lists[side])), encoding="utf-8")
    return str(folder)


def test_saved_pages_give_what_answers_in_json_give(tmp_path: Path) -> None:
    found = read_pairs([save(tmp_path / "pages", "{}")])
    for side in SIDES:
        for number, answer in enumerate(answers(side)):
            write_json(tmp_path / "json" / side / f"{number}.json", answer)
    expected = read_pairs([str(tmp_path / "json")])
    assert without_more(found.pairs) == without_more(expected.pairs)
    first = found.pairs[0].vanilla[0]
    assert (first.title, first.snippet) == ("Title a", "Words of a & more")
    assert found.pairs[0].again is not None
    assert len(found.pairs[0].vanilla) == len(PAIRS["first hushquery"]["vanilla"])


def test_queries_with_signs_of_html_are_kept(tmp_path: Path) -> None:
    query = 'is a < b & "c"?'
    for side in SIDES[:2]:
        (tmp_path / f"{side}.html").write_text(saved_page(query, "ab"))
    assert read_pairs([str(tmp_path)]).pairs[0].query == query


def test_archives_of_pages_are_read(tmp_path: Path) -> None:
    for side in SIDES[:2]:
        entries = [
            {
                "startedDateTime": "2026-03-01T11:00:00Z",
                "request": {"queryString": []},
                "response": {"content": {"mimeType": "text/html", "text": saved_page(query, lists[side])}},
            }
            for query, lists in PAIRS.items()
        ]
        (tmp_path / f"{side}.har").write_text(json.dumps({"log": {"entries": entries}}))
    assert [pair.query for pair in read_pairs([str(tmp_path)]).pairs] == list(PAIRS)


def test_pages_without_results_are_empty_lists(tmp_path: Path) -> None:
    (tmp_path / "vanilla.html").write_text(saved_page("hushhush", "ab"))
    (tmp_path / "personalised.html").write_text(saved_page("hushhush", ""))
    with pytest.raises(InputError, match="the personalised list has no organic result"):
        read_pairs([str(tmp_path)])


@pytest.mark.parametrize(
    "other",
    [
        "<html><body><div class='g'><h3><a href='https://a.example'>A</a></h3></div></body></html>",
        "<html><article class='result'><h3><a href='https://a.example'>A</a></h3></article></html>",
        "<",
        "<html><div id=",
        "<![CDATA[ <!-- &#x110000; ",
    ],
)
def test_other_pages_are_refused(tmp_path: Path, other: str) -> None:
    path = tmp_path / "vanilla.html"
    path.write_text(other)
    with pytest.raises(InputError, match="it is a web page, and not one of SearXNG") as caught:
        read_pairs([str(path)])
    assert "WebSearcher" in (caught.value.hint or "")


def test_a_directory_says_by_its_own_name_which_side_its_lists_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for side in ("vanilla", "personalised"):
        (tmp_path / side).mkdir()
        write_json(tmp_path / side / "one.json", answers(side)[0])
    read = read_pairs([str(tmp_path / "vanilla"), str(tmp_path / "personalised")])
    assert len(read.pairs) == 1
    monkeypatch.chdir(tmp_path / "vanilla")
    assert read_pairs([".", "../personalised"]).pairs == read.pairs
    (tmp_path / "vanilla-and-personalised").mkdir()
    write_json(tmp_path / "vanilla-and-personalised" / "one.json", answers("vanilla")[0])
    with pytest.raises(InputError, match="nothing says whether"):
        read_pairs([str(tmp_path / "vanilla-and-personalised")])

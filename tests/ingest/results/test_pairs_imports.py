"""Lists in JSON of any shape, by the path that leads to them, and HAR files as browsers zip them."""

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saved_lists import PAIRS, SIDES, answers, archive, page, write_json, write_lines

from aidos.errors import InputError, ParameterError
from aidos.ingest.results.names import ListPaths
from aidos.ingest.results.reading import read_pairs
from aidos.surfaces.cli import run


def titles(read):
    return {pair.query: "".join(one.title[-1] for one in pair.personalised) for pair in read.pairs}


TRUE = {query: lists["personalised"] for query, lists in PAIRS.items()}


def hits(letters):
    """Results as a service of its own mind calls them."""
    return [{"doc": {"x": 1}, "Ref": page(letter)["url"], "caption": page(letter)["title"]} for letter in letters]


def shapes(side):
    held = {query: lists[side] for query, lists in PAIRS.items() if side in lists}
    yield (
        "each search",
        "searches.*.found",
        "searches.*.words",
        [{"searches": [{"words": query, "found": hits(letters)} for query, letters in held.items()]}],
    )
    yield (
        "by name",
        "by.*.list",
        "by.*.info.q",
        [{"by": {str(at): {"info": {"q": query}, "list": hits(held[query])} for at, query in enumerate(held)}}],
    )
    yield (
        "one a document",
        "data.1.items",
        "data.0.q",
        [{"data": [{"q": query}, {"items": hits(letters)}]} for query, letters in held.items()],
    )
    yield "query beside", "body.rows", "q", [{"q": query, "body": {"rows": hits(held[query])}} for query in held]


COLUMNS = {"url": "Ref", "title": "caption"}


@pytest.mark.parametrize("number", range(4))
def test_lists_are_found_where_the_path_leads(number, tmp_path):
    for side in SIDES:
        _, results, query, documents = list(shapes(side))[number]
        write_lines(tmp_path / f"{side}.jsonl", documents)
    read = read_pairs([str(tmp_path)], columns=COLUMNS, paths=ListPaths(results=results, query=query))
    assert titles(read) == TRUE
    assert [pair.again is not None for pair in read.pairs] == [True, False]
    assert read.formats["lists at a path"] == 5


def test_the_command_takes_the_paths_and_says_where_no_list_stands(tmp_path, capsys):
    for side in SIDES:
        _, _, _, (document,) = next(iter(shapes(side)))
        write_json(tmp_path / f"{side}.json", document, indent=1)
    words = ["audit", "check", str(tmp_path), "--column", "url=Ref", "--column", "title=caption", "--quiet"]
    assert run([*words, "--results-at", "searches.*.found", "--query-at", "searches.*.words"]) == 0
    capsys.readouterr()
    assert run([*words, "--results-at", "searches.found"]) == 2
    assert "no list stands where --results-at says" in capsys.readouterr().err


def test_paths_lead_into_the_answers_of_har_files(tmp_path):
    for side in ("vanilla", "personalised"):
        entries = [
            {
                "request": {"queryString": [{"name": "q", "value": query}]},
                "response": {"content": {"text": json.dumps({"data": {"hits": hits(lists[side])}})}},
            }
            for query, lists in PAIRS.items()
        ]
        write_json(tmp_path / f"{side}.har", {"log": {"entries": entries}})
    assert titles(read_pairs([str(tmp_path)], columns=COLUMNS, paths=ListPaths(results="data.hits"))) == TRUE


def zipped(path, *, beside=False, name="trace.har"):
    """A HAR file in an archive; ``beside``: as Playwright keeps it, with bodies in files of their own."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        held = archive(path.stem)
        for number, entry in enumerate(held["log"]["entries"]):
            content = entry["response"]["content"]
            if beside and content["mimeType"] == "application/json":
                target.writestr(f"{number}.json", content.pop("text"))
                content["_file"] = f"{number}.json"
            elif beside and content["mimeType"] == "image/png":
                target.writestr("picture.png", b"\x89PNG\xff\xfe")
                del content["text"], content["encoding"]
                content["_file"] = "picture.png"
        target.writestr(name, json.dumps(held))


@pytest.mark.parametrize("beside", [False, True])
def test_zipped_har_files_are_read_as_they_are(beside, tmp_path):
    for side in SIDES:
        zipped(tmp_path / f"{side}.zip", beside=beside)
    read = read_pairs([str(tmp_path)])
    assert titles(read) == TRUE
    assert read.formats["SearXNG answers"] == sum(len(answers(side)) for side in SIDES)


def test_one_archive_may_hold_both_sides(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as target:
        for side in SIDES:
            target.writestr(f"{side}.har", json.dumps(archive(side)))
    assert titles(read_pairs([str(tmp_path / "all.zip")])) == TRUE


def test_archives_that_are_damaged_empty_or_bombs_are_refused_in_words(tmp_path):
    path = tmp_path / "vanilla.zip"
    zipped(path)
    whole = path.read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "flipped.zip").write_bytes(whole[:60] + bytes(40) + whole[100:])
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as target:
        target.writestr("letter.txt", "x")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("a.har", b"[" + b" " * (80 << 20))
    with zipfile.ZipFile(tmp_path / "list.zip", "w") as target:
        target.writestr("a.har", "[]")
    expected = {
        "cut": "end too early",
        "flipped": "broken",
        "none": "no HAR file",
        "bomb": "made to fill memory",
        "list": "not valid JSON",
    }
    for name, words in expected.items():
        with pytest.raises(InputError, match=words):
            read_pairs(vanilla=[str(tmp_path / f"{name}.zip")], personalised=[str(path)])


@given(st.binary(max_size=300))
def test_bytes_that_begin_like_an_archive_end_in_words(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("zip") / "vanilla.zip"
    path.write_bytes(b"PK\x03\x04" + content)
    with pytest.raises(InputError):
        read_pairs([str(path)])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab01"), inner, max_size=3),
)


@given(JSON, st.lists(st.sampled_from(["a", "b", "0", "1", "*"]), min_size=1, max_size=4))
def test_whatever_a_path_finds_is_a_list_of_the_document(document, steps):
    def lists(value):
        if isinstance(value, list):
            yield value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from lists(inner)

    found = [answer["results"] for answer in ListPaths(results=".".join(steps)).answers_in(document)]
    assert all(any(one is each for each in lists(document)) for one in found)


@pytest.mark.parametrize("paths", [{"results": "a..b"}, {"results": ".a"}, {"query": "q"}])
def test_a_path_that_is_none_is_refused(paths):
    with pytest.raises(ParameterError):
        ListPaths(**paths)

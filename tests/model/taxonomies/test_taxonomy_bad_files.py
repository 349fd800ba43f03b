"""Files that are no tree are refused, with the file, the line and the topics."""

import gzip
import time

import pytest

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import InputError, ParameterError
from aidos.model.taxonomies import records
from aidos.model.taxonomies.cache import save_taxonomy
from aidos.model.taxonomies.reading import open_taxonomy
from aidos.model.taxonomies.records import ImportedTaxonomy

NATIVE = "id\tparent\tname\n"
IAB = "Unique ID\tParent\tName\tTier 1\tExtension\n"
GID = "gid://shopify/TaxonomyCategory/"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(NATIVE + "r\t\tR\na\tb\tA\nb\tc\tB\nc\tb\tC\n", r"line 4: .*one another: b > c > b", id="cycle"),
        pytest.param(NATIVE + "a\tb\tA\nb\ta\tB\n", r"line 2: .*a > b > a", id="nothing but a cycle"),
        pytest.param(NATIVE + "a\ta\tA\nr\t\tR\n", r"line 2: .*a > a", id="its own parent"),
        pytest.param(NATIVE + "a\t\tA\nb\t\tB\n", r"line 2: 2 topics have no parent.*: a, b", id="two roots"),
        pytest.param(NATIVE + "r\t\tR\na\tx\tA\n", r"line 3: .*does not have: a \(parent x\)", id="dangling"),
        pytest.param(NATIVE + "r\t\tR\na\tr\tA\na\tr\tA\n", r"line 4: .*more than once: a", id="repeated"),
        pytest.param(NATIVE + "r\t\tR\na\tr\t\n", r"line 3: .*no name", id="no name"),
        pytest.param(NATIVE + "r\t\tR\na\tr\n", r"line 3: the header has 3 columns", id="short row"),
        pytest.param("id\tparent\tname\tsupport\nr\t\tR\t\na\tr\tA\t-1\n", r"line 3: .*above 0", id="support below 0"),
        pytest.param("id\tparent\tname\tsupport\nr\t\tR\t2\na\tr\tA\t\n", r"line 2: .*sum of theirs: r", id="inner"),
        pytest.param("id\tparent\tname\tid\nr\t\tR\tr\n", r"columns repeat", id="columns twice"),
        pytest.param(NATIVE, "has no topic", id="header alone"),
        pytest.param("", "is empty", id="empty"),
        pytest.param(" \n\n", "is empty", id="blank"),
        pytest.param("some words\nof no taxonomy\n", "no taxonomy in a format that is known", id="unknown"),
        pytest.param(IAB + "1\t\tA\tA\n", r"line 2: the header has 5 columns", id="iab columns"),
        pytest.param(IAB + "1\t\tA\tA\t\n2\t9\tB\tA\t\n", r"line 3: .*2 \(parent 9\)", id="iab dangling"),
        pytest.param(IAB, "has no topic", id="iab header alone"),
        pytest.param(f"{GID}a : A\n{GID}a-1 : A > B > C\n", r"line 2: .*a-1 \(parent A > B\)", id="shopify dangling"),
        pytest.param(f"{GID}a : A\n{GID}a-1 A > B\n", r"line 2: .*not of the form", id="shopify form"),
        pytest.param('{"verticals": 3}', "no verticals", id="shopify json"),
        pytest.param('{"verticals": [\n{"categories"', r"line 2: .*no sound JSON", id="shopify cut"),
        pytest.param('{"verticals": [{"categories": [{"id": 7}]}]}', r"category 1: ", id="shopify category"),
        pytest.param(
            "| ID | Topic |\n| - | --- |\n| 1 | /A |\n| 2 | B |\n", r"line 4: the row has no", id="chrome row"
        ),
        pytest.param("| 1 | /A |\n| 2 | /A/B/C |\n", r"line 2: .*2 \(parent /A/B\)", id="chrome dangling"),
        pytest.param("| 1 | /A |\n| 1 | /B |\n", r"line 2: .*more than once: 1", id="chrome repeated"),
        pytest.param("A > B\nA > > C\n", r"line 2: the path has a step without", id="empty step"),
        pytest.param("A > B\nA > B\n", r"line 2: .*more than once: A > B", id="path twice"),
        pytest.param('<RDF>\n<Topic r:id="Top">\n</Tpic>\n', r"line 3: .*no sound XML", id="dmoz broken"),
        pytest.param('<RDF><Topic r:id="Top/A"></Topic>', r"line 1: .*ends too early", id="dmoz cut"),
        pytest.param('<RDF><Topic r:id="Top"/><Topic r:id="B"/></RDF>', r"one root: Top, B", id="dmoz roots"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_topics(tmp_path, text, words):
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        open_taxonomy(path)
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_all_problems_of_a_file_are_told_at_once(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(NATIVE + "r\t\tR\na\tx\tA\na\ty\tA\n" + "".join(f"d{at}\tz\tD\n" for at in range(9)))
    with pytest.raises(InputError) as caught:
        open_taxonomy(path)
    kinds = {problem.kind: problem for problem in caught.value.problems}
    assert set(kinds) == {"repeated-topic", "unknown-parent"}
    assert kinds["unknown-parent"].count == 11
    assert len(kinds["unknown-parent"].lines) == 5


@pytest.mark.parametrize("text", [NATIVE, IAB])
def test_a_wrong_encoding_is_told(tmp_path, text):
    path = tmp_path / "t.tsv"
    path.write_bytes((text + "1\t\tCaf\u00e9\tA\t\n").encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        open_taxonomy(path)


def test_the_line_of_a_wrong_byte_is_named(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes(b"A > B\nA > C\nA > \xff\n")
    with pytest.raises(InputError, match="line 3: the text is not in UTF-8"):
        open_taxonomy(path)


def test_sixteen_bit_text_is_no_format_that_is_known(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes("A > B\nA > C\n".encode("utf-16"))
    with pytest.raises(InputError):
        open_taxonomy(path)


def test_files_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        open_taxonomy(tmp_path / "nowhere.tsv")
    with pytest.raises(InputError, match=r"directory without data\.noun"):
        open_taxonomy(tmp_path)
    packed = tmp_path / "list.gz"
    packed.write_bytes(gzip.compress(b"A > B\n" * 500)[:-20])
    with pytest.raises(InputError, match="packed and damaged"):
        open_taxonomy(packed)


def test_first_parents_are_refused_where_topics_have_one(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("A > B\nA > C\n")
    with pytest.raises(ParameterError, match="this is paths"):
        open_taxonomy(path, first_parent=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            NATIVE + "0\t\tR\n" + "".join(f"{n}\t{n - 1}\tT\n" for n in range(1, 10_000)),
            "9899 topics are more than 100",
        ),
        ("\n".join(" > ".join("abcd"[n % 4] for n in range(length)) for length in (3, 2000)), "line 2: .*100 steps"),
        (f'<RDF><Topic r:id="Top"/><Topic r:id="Top{"/A" * 5000}"/></RDF>', "line 1: .*100 steps"),
        ('{"verticals": ' + "[" * 100_000, "no sound JSON"),
        ('{"verticals": [' + "[]," * 2_100_000 + "0]}", "no sound JSON"),
        (f"A > B\nA > {'x' * (17 << 20)}\n", "line 2 is longer than 16 MB"),
        (f'<RDF><Topic r:id="{"x" * (20 << 20)}"/></RDF>', "more than 16 MB"),
        (f'<RDF><Topic r:id="Top"><d:Description>{"x" * (20 << 20)}', "more than 16 MB"),
    ],
    ids=["levels", "steps", "dmoz steps", "deep json", "wide json", "long line", "long tag", "long text"],
)
def test_what_would_take_the_machine_down_is_refused_at_once(tmp_path, text, words):
    path = tmp_path / "file.txt"
    path.write_text(text)
    started = time.monotonic()
    with pytest.raises(InputError, match=words) as caught:
        open_taxonomy(path)
    assert time.monotonic() - started < 5
    assert len(str(caught.value.message)) < 1000


def test_a_hundred_levels_are_a_taxonomy(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text(NATIVE + "0\t\tR\n" + "".join(f"{n}\t{n - 1}\tT\n" for n in range(1, 101)))
    opened = open_taxonomy(path)
    assert opened.taxonomy.depth("100") == 100
    save_taxonomy(opened, tmp_path / "kept.taxonomy")
    assert len(open_taxonomy(tmp_path / "kept.taxonomy").taxonomy) == 101


def test_a_kept_taxonomy_may_not_be_deeper_either(tmp_path):
    topics = {str(n): Topic(str(n), str(n - 1) if n else "", "T") for n in range(500)}
    deep = Taxonomy(topics, "0", {str(n): (str(n + 1),) for n in range(499)})
    save_taxonomy(ImportedTaxonomy(taxonomy=deep, format="aidos"), tmp_path / "kept.taxonomy")
    with pytest.raises(InputError, match="does not hold a taxonomy"):
        open_taxonomy(tmp_path / "kept.taxonomy")


def test_a_packed_taxonomy_that_is_a_bomb_is_refused(tmp_path):
    path = tmp_path / "file.txt.gz"
    path.write_bytes(gzip.compress(b"A > B\n") + gzip.compress(b" " * (64 << 20)) * 20)
    with pytest.raises(InputError, match="line 2 is longer than 16 MB"):
        open_taxonomy(path)
    path.write_bytes(gzip.compress(b"A > B\n") + gzip.compress((b" " * (1 << 20) + b"\n") * 64) * 20)
    with pytest.raises(InputError, match="unpacks to more than 500 times its size"):
        open_taxonomy(path)


@pytest.mark.parametrize(
    "text", ["A > B\nA > C\nA > D\nA > E\n", '<RDF><Topic r:id="Top"/><Topic r:id="Top/A/B/C"/></RDF>']
)
def test_a_file_with_too_many_lines_or_topics_is_refused_before_it_fills_memory(tmp_path, monkeypatch, text):
    monkeypatch.setattr(records, "MOST", 3)
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=r"has more than 3 (lines|topics)"):
        open_taxonomy(path)

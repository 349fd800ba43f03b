"""`aidos taxonomy` as a person uses it."""

import json

import pytest

from aidos.model.taxonomies.opened import index_beside
from aidos.model.taxonomies.reading import read_taxonomy
from aidos.surfaces.cli import run

LIST = "Arts > Music > Jazz\nArts > Music > Rock\nArts > Film\nFood\n"


@pytest.fixture
def listed(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text(LIST)
    return path


def told(capsys, *arguments):
    assert run(["taxonomy", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def shown(capsys, *arguments):
    assert run(["taxonomy", *map(str, arguments)]) == 0
    return capsys.readouterr()


def complaint(capsys, *arguments):
    assert run(["taxonomy", *map(str, arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_a_branch_is_drawn_with_what_is_cut_off(capsys, listed):
    drawn = shown(capsys, "show", "--taxonomy", listed)
    assert drawn.out.splitlines() == [
        "All topics (root)",
        "├── Arts",
        "│   ├── Music (Arts > Music)  + 2 below",
        "│   └── Film (Arts > Film)",
        "└── Food",
    ]
    assert "7 topics, at most 3 below the root, 0 sensitive" in drawn.err
    whole = shown(capsys, "show", "music", "--taxonomy", listed, "--depth", "9", "--quiet")
    assert [line.rstrip() for line in whole.out.splitlines()] == [
        "path  Arts > Music",
        "Music (Arts > Music)",
        "├── Jazz (Arts > Music > Jazz)",
        "└── Rock (Arts > Music > Rock)",
    ]
    assert whole.err == ""


def test_sensitive_topics_are_marked_also_where_the_mark_is_inherited(capsys):
    drawn = shown(capsys, "show", "mental-health")
    assert "Mental health (mental-health)  [sensitive: mental-health]" in drawn.out
    assert "about  Feelings, thoughts and mental illness" in drawn.out
    tree = drawn.out[drawn.out.index("Mental health (mental-health)") :]
    assert all("[sensitive: mental-health]" in line for line in tree.splitlines())
    assert "[sensitive" not in shown(capsys, "show", "music").out


def test_show_tells_machines_the_same(capsys, listed):
    found = told(capsys, "show", "Arts", "--taxonomy", listed, "--depth", "1")
    assert (found["format"], found["topics"], found["depth"], found["without_children"]) == ("paths", 7, 3, 4)
    assert [child["name"] for child in found["topic"]["children"]] == ["Music", "Film"]
    assert found["topic"]["children"][0]["children"] == []
    assert found["topic"]["children"][0]["topics_below"] == 2
    assert found["topic"]["support"] == 3.0


def test_names_of_a_file_cannot_command_the_terminal(capsys, tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("id\tparent\tname\nr\t\tAll\na\tr\t\x1b[31mred [bold]x\n")
    drawn = shown(capsys, "show", "--taxonomy", path).out
    assert "\x1b" not in drawn
    assert "[bold]x" in drawn


def test_find_gives_topics_with_their_paths(capsys, listed):
    [best, *_] = told(capsys, "find", "saxophone", "bebop")["topics"]
    assert best["topic"] == "jazz"
    assert best["path"] == "Arts and entertainment > Music > Jazz"
    assert "Arts > Music > Rock" in shown(capsys, "find", "rock", "--taxonomy", listed, "--most", "1").out
    assert told(capsys, "find", "qqqq")["topics"] == []
    assert "these words tell no topic" in shown(capsys, "find", "qqqq").err
    assert told(capsys, "find", "depression", "--least", "1")["topics"][0]["sensitive"] == "mental-health"


def test_import_then_find_with_the_index_beside(capsys, listed, tmp_path):
    target = tmp_path / "made.taxonomy"
    found = told(capsys, "import", listed, "-o", target, "--index")
    assert (found["topics"], found["format"], found["index"]) == (7, "paths", str(index_beside(target)))
    assert "no root" in found["remarks"][0]
    assert read_taxonomy(target) == read_taxonomy(listed)
    assert index_beside(target).is_dir()
    first = told(capsys, "find", "jazz", "--taxonomy", target)
    assert first["topics"][0]["topic"] == "Arts > Music > Jazz"
    assert "exists already" in complaint(capsys, "import", listed, "-o", target, "--index")
    listed.write_text(LIST + "Food > Jazz\n")
    told(capsys, "import", listed, "-o", target)
    stale = shown(capsys, "find", "jazz", "--taxonomy", target)
    assert "of another taxonomy, or of another aidos; it was not used" in stale.err
    assert "Food > Jazz" in stale.out


def test_import_as_a_table_to_edit(capsys, listed, tmp_path):
    target = tmp_path / "made.tsv"
    done = shown(capsys, "import", listed, "-o", target)
    assert done.out.split() == [str(target)]
    text = target.read_text()
    target.write_text(text.replace("Arts > Film\tArts\tFilm\t", "Arts > Film\tArts\tFilm\tpolitics"))
    assert "Film (Arts > Film)  [sensitive: politics]" in shown(capsys, "show", "--taxonomy", target).out


def test_bad_input_exits_with_2_and_names_file_line_and_topic(capsys, tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("id\tparent\tname\nr\t\tR\na\tb\tA\nb\ta\tB\n")
    said = complaint(capsys, "import", path, "-o", tmp_path / "made.taxonomy")
    assert f"{path}, line 3: topics are above and below one another: a > b > a" in said
    assert "hint: " in said
    assert not (tmp_path / "made.taxonomy").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "show, find or import"),
        (["show", "nosuchtopic"], "aidos taxonomy find nosuchtopic"),
        (["show", "--depth", "-1"], "at least 0"),
        (["find", "jazz", "--least", "2"], "least must be from 0 to 1"),
        (["find"], "requires an argument"),
        (["import", "nowhere.tsv", "-o", "x.taxonomy"], "there is no file nowhere.tsv"),
        (["import", "nowhere.tsv", "-o", "x.json"], ".taxonomy"),
        (["import", "nowhere.tsv", "-o", "x.tsv", "--unrolled", "--first-parent"], "exclude each other"),
        (["import", "nowhere.tsv", "-o", "x.tsv", "--format", "iabb"], "did you mean iab?"),
        (["show", "--taxonomy", "nowhere.tsv"], "there is no file nowhere.tsv"),
    ],
)
def test_wrong_options_are_told(capsys, arguments, words):
    assert words in complaint(capsys, *arguments)


def test_a_name_that_several_topics_have_is_told_with_their_ids(capsys, tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("Arts > News\nSports > News\n")
    assert "Arts > News, Sports > News" in complaint(capsys, "show", "news", "--taxonomy", path)

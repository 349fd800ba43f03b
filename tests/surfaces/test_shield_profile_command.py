"""`aidos shield profile` as a person uses it: build, show, edit, forget."""

import io
import json
import os
import sqlite3
import stat
from contextlib import closing

import pytest

from aidos.model.profilefile import default_place
from aidos.surfaces.cli import run

BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p>
    <DT><A HREF="https://chess.example/openings?user=hushhush">Chess openings, bishop and knight</A>
    <DT><A HREF="https://chess.example/endgames">Chess endgame with a rook</A>
    <DT><A HREF="https://advice.example/debt-collector">Debt collector and loan repayment</A>
</DL><p>
"""
TABLE = "id\tparent\tname\tsensitive\tdescription\twords\n"


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "bookmarks.html").write_text(BOOKMARKS)
    return tmp_path / "bookmarks.html"


@pytest.fixture
def profile(tmp_path, sources):
    assert run(["shield", "profile", "build", str(sources), "-o", str(tmp_path / "profile.json"), "--quiet"]) == 0
    return tmp_path / "profile.json"


def told(capsys, *arguments):
    capsys.readouterr()
    assert run(["shield", "profile", *map(str, arguments), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    capsys.readouterr()
    assert run(["shield", "profile", *map(str, arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def test_building_tells_what_was_mapped_and_writes_a_private_file_without_texts(capsys, tmp_path, sources):
    output = tmp_path / "profile.json"
    found = told(capsys, "build", sources, "-o", output)
    assert found["sources"] == {"html-bookmarks": 3}
    assert (found["documents"], found["mapped"], found["without_topic"]) == (3, 3, 0)
    assert found["sensitive_topics"] == 1
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    text = output.read_text()
    assert "hushhush" not in text
    assert ".example" not in text
    assert "bishop" not in text


def test_the_profile_is_shown_as_a_tree_with_counts_and_marks(capsys, profile):
    capsys.readouterr()
    assert run(["shield", "profile", "show", str(profile)]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0] == "All topics  3"
    assert any("└── " in line and "[sensitive, weight 1]" in line for line in lines)
    assert any(line.endswith("2") and "Games" in line for line in lines)
    facts = told(capsys, "show", profile)
    root = facts["topics"][0]
    assert (root["id"], root["documents_at_and_below"], root["documents"]) == ("root", 3, 0)
    assert sum(topic["documents"] for topic in facts["topics"]) == 3
    capsys.readouterr()
    assert run(["shield", "profile", "show", str(profile), "--depth", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) < len(lines)


def test_marks_and_supports_are_edited(capsys, profile):
    found = told(capsys, "edit", profile, "--sensitive", "chess=2.5", "--support", "jazz=4")
    assert found["sensitivities"]["chess"] == 2.5
    assert found["topics"] >= 3
    found = told(capsys, "edit", profile, "--not-sensitive", "Chess", "--remove", "jazz")
    assert "chess" not in found["sensitivities"]
    assert not any(topic["id"] == "jazz" for topic in told(capsys, "show", profile)["topics"])


def test_overlapping_sensitive_topics_are_explained_and_merged_on_demand(capsys, profile):
    before = profile.read_bytes()
    said = complaint(capsys, "edit", profile, "--sensitive", "games=2", "--sensitive", "chess=5")
    assert "chess is below games" in said
    assert "--merge" in said
    assert profile.read_bytes() == before
    found = told(capsys, "edit", profile, "--sensitive", "games=2", "--sensitive", "chess=5", "--merge")
    assert found["sensitivities"]["games"] == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sensitive", "chess=-1"), "above 0"),
        (("--sensitive", "chess=nan"), "above 0"),
        (("--sensitive", "chess=much"), "TOPIC=NUMBER"),
        (("--sensitive", "alchemy=1"), "no topic 'alchemy'"),
        (("--not-sensitive", "chess"), "not marked"),
        (("--support", "chess"), "TOPIC=NUMBER"),
        (("--remove", "gardening"), "holds nothing"),
        ((), "what to change is missing"),
    ],
)
def test_edits_that_cannot_be_are_refused_and_change_nothing(capsys, profile, arguments, words):
    before = profile.read_bytes()
    assert words in complaint(capsys, "edit", profile, *arguments)
    assert profile.read_bytes() == before


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_in_a_terminal_changes_are_asked_for(capsys, profile, monkeypatch):
    typed = (
        "sensitive chess 3\nsensitive alchemy\nnonsense\nsupport Rock music 2\nsupport jazz\nmerge games\nshow\nsave\n"
    )
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    capsys.readouterr()
    assert run(["shield", "profile", "edit", str(profile)]) == 0
    shown = capsys.readouterr()
    assert "no topic 'alchemy'" in shown.err
    assert "support of jazz must be above 0" in shown.err
    facts = told(capsys, "show", profile)
    assert facts["sensitivities"]["games"] == 3
    assert facts["supports"]["rock-music"] == 2


@pytest.mark.parametrize("ending", ["quit\n", ""])
def test_what_is_not_saved_is_not_written(capsys, profile, monkeypatch, ending):
    before = profile.read_bytes()
    monkeypatch.setattr("sys.stdin", Terminal(f"sensitive chess 3\n{ending}"))
    assert run(["shield", "profile", "edit", str(profile)]) == 0
    assert "nothing was changed" in capsys.readouterr().err
    assert profile.read_bytes() == before


def test_topics_and_the_whole_profile_are_forgotten(capsys, profile):
    found = told(capsys, "forget", profile, "--topic", "games")
    assert found["topics"] == 1
    assert "chess" not in profile.read_text()
    assert "must be said" in complaint(capsys, "forget", profile)
    assert "must be said" in complaint(capsys, "forget", profile, "--topic", "games", "--all")
    assert told(capsys, "forget", profile, "--all") == {"profile": str(profile), "forgotten": True}
    assert not profile.exists()
    assert "there is no profile" in complaint(capsys, "forget", profile, "--all")


def test_building_again_keeps_what_was_marked(capsys, profile, sources):
    told(capsys, "edit", profile, "--sensitive", "chess=4")
    found = told(capsys, "build", sources, "-o", profile)
    assert found["sensitive_topics"] == 2
    assert told(capsys, "show", profile)["sensitivities"]["chess"] == 4


def test_a_file_that_is_no_profile_is_never_overwritten_or_erased(capsys, tmp_path, sources):
    before = sources.read_bytes()
    assert "no profile" in complaint(capsys, "build", sources, "-o", sources)
    assert "left alone" in complaint(capsys, "forget", sources, "--all")
    assert sources.read_bytes() == before


def test_the_usual_place_follows_the_rule_and_is_private(capsys, tmp_path, sources, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_place() == tmp_path / "data" / "aidos" / "profile.json"
    found = told(capsys, "build", sources)
    assert found["profile"] == str(default_place())
    assert stat.S_IMODE(default_place().parent.stat().st_mode) == 0o700
    assert told(capsys, "show")["supports"]
    told(capsys, "forget", "--all")
    assert os.listdir(default_place().parent) == []
    for relative in ("data", ""):
        monkeypatch.setenv("XDG_DATA_HOME", relative)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setattr("sys.platform", "linux")
        assert default_place() == tmp_path / ".local" / "share" / "aidos" / "profile.json"
    monkeypatch.setattr("sys.platform", "darwin")
    assert default_place() == tmp_path / "Library" / "Application Support" / "aidos" / "profile.json"


def test_another_taxonomy_is_used_and_asked_for(capsys, tmp_path, sources):
    rows = "all\t\tAll\t\t\t\nplay\tall\tPlay\t\t\tchess rook\nowing\tall\tOwing\tmoney\t\tdebt loan\n"
    (tmp_path / "small.tsv").write_text(TABLE + rows)
    output = tmp_path / "profile.json"
    told(capsys, "build", sources, "-o", output, "--taxonomy", tmp_path / "small.tsv")
    shown = told(capsys, "show", output, "--taxonomy", tmp_path / "small.tsv")
    assert shown["supports"] == {"play": 2, "owing": 1}
    assert shown["sensitivities"] == {"owing": 1}
    said = complaint(capsys, "show", output)
    assert "another taxonomy (small.tsv); the taxonomy does not have 2 of its topics: play, owing" in said
    assert "--taxonomy" in said


def test_what_is_wrong_with_a_source_ends_with_exit_code_2_and_no_file(capsys, tmp_path):
    output = tmp_path / "profile.json"
    with closing(sqlite3.connect(tmp_path / "places.sqlite")) as made:
        made.execute("CREATE TABLE logins (secret TEXT)")
    (tmp_path / "empty").mkdir()
    for name, words in (("places.sqlite", "none that Firefox"), ("empty", "holds no page"), ("gone", "no such file")):
        assert words in complaint(capsys, "build", tmp_path / name, "-o", output)
    assert not output.exists()


def test_a_profile_that_others_can_read_is_refused(capsys, profile):
    profile.chmod(0o644)
    assert "chmod 600" in complaint(capsys, "show", profile)


def test_help_is_offered_for_the_part_that_went_wrong(capsys):
    assert "see: aidos shield profile show --help" in complaint(capsys, "show", "--nonsense")
    assert run(["shield"]) == 2
    assert run(["shield", "profile"]) == 2

"""`aidos shield rerank` and `rules export`: lists of results in the searcher's order, and what is wrong with files."""

import csv
import json
import stat

import pytest

from aidos.surfaces.cli import run

RESULTS = [
    {"url": "https://forum.example/ski", "title": "Ski repair", "content": "base and wax", "engine": "one"},
    {"url": "https://news.example/patch", "title": "Security patch", "content": "operating system update"},
    {"url": "https://garden.example/patch", "title": "Start a vegetable patch", "content": "gardening, compost, seeds"},
    {"url": "https://www.games.example/notes", "title": "Patch notes", "content": "video games on the console"},
]
RULES = 'block = ["forum.example"]\n[boost]\n"games.example" = 10\n[downrank]\n"news.example" = 3\n'


@pytest.fixture
def profile(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "garden.txt").write_text("Vegetable patch: compost, seeds, gardening in spring")
    (tmp_path / "notes" / "games.txt").write_text("Video games: the console, a new patch for the game")
    path = tmp_path / "profile.json"
    assert run(["shield", "profile", "build", str(tmp_path / "notes"), "-o", str(path), "--quiet"]) == 0
    return path


@pytest.fixture
def answer(tmp_path):
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"query": "patch", "number_of_results": 4, "results": RESULTS}))
    return path


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(RULES)
    return path


def told(capsys, *arguments):
    capsys.readouterr()
    assert run(["shield", *map(str, arguments), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    capsys.readouterr()
    assert run(["shield", *map(str, arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def order(found):
    return [row["before"] for row in found["results"]]


def test_what_the_profile_is_about_moves_up_and_says_why(capsys, profile, answer):
    found = told(capsys, "rerank", answer, "--profile", profile)
    assert found["outcome"] == "sent"
    by_site = {row["site"]: row for row in found["results"]}
    assert by_site["garden.example"]["now"] < by_site["garden.example"]["before"]
    assert by_site["garden.example"]["because of"] == "Gardening"
    assert sorted(order(found)) == [1, 2, 3, 4]
    assert order(told(capsys, "rerank", answer, "--profile", profile, "--weight", 0)) == [1, 2, 3, 4]


def test_a_clear_query_keeps_the_order_of_the_service(capsys, profile, answer):
    found = told(capsys, "rerank", answer, "--profile", profile, "--distinct-from", 0)
    assert (found["outcome"], order(found)) == ("distinct", [1, 2, 3, 4])
    assert run(["shield", "rerank", str(answer), "--profile", str(profile), "--query", "xqzzy"]) == 0
    assert "the profile was not used" in capsys.readouterr().err


def test_rules_block_boost_and_move_down_also_without_a_profile(capsys, answer, rules):
    found = told(capsys, "rerank", answer, "--rules", rules, "--without-profile")
    assert (order(found), found["blocked"]) == ([4, 3, 2], 1)
    assert found["results"][0]["because of"] == "site moved up by 10"


@pytest.mark.parametrize("form", ["answer", "list", "lines", "table"])
def test_every_form_is_written_as_it_came_and_only_its_owner_can_read_it(capsys, tmp_path, rules, form):
    source, output = tmp_path / "in", tmp_path / "out"
    if form == "table":
        with source.open("w", newline="") as file:
            writer = csv.DictWriter(file, ["url", "title", "content", "engine"])
            writer.writeheader()
            writer.writerows(RESULTS)
    elif form == "lines":
        source.write_text("\n".join(map(json.dumps, RESULTS)))
    else:
        source.write_text(json.dumps({"results": RESULTS, "answers": [7]} if form == "answer" else RESULTS))
    found = told(capsys, "rerank", source, "--rules", rules, "--without-profile", "-o", output)
    assert order(found) == [4, 3, 2]
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    again = told(capsys, "rerank", output, "--rules", rules, "--without-profile")
    assert [row["title"] for row in again["results"]] == [RESULTS[place - 1]["title"] for place in (4, 3, 2)]
    if form == "answer":
        assert json.loads(output.read_text())["answers"] == [7]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no column url or title"),
        ("[1]", "result 1 is no object"),
        ('{"results": 3}', "results is no list"),
        ('{"results": []}', "holds no result"),
        ('[{"content": "hushhush"}]', "result 1 has neither an address nor a title"),
        ('[{"url": 5, "title": "hushhush"}]', "result 1: url is no text"),
        ('[{"url": "x"', "it is no JSON"),
        ('{"url": "x"}\n{"hushhush', "line 2 is no JSON"),
        ("name;size\nhushhush;2;3\n", "line 2 has 3 cells for 2 columns"),
        ('url,title\n"hushhush', "line 2 is no row"),
        (b"\xff\xfe\x00", "not in UTF-8"),
    ],
)
def test_wrong_lists_are_refused_by_place_without_quoting_them(capsys, tmp_path, profile, content, words):
    source, output = tmp_path / "list", tmp_path / "out"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = complaint(capsys, "rerank", source, "--query", "patch", "--profile", profile, "-o", output)
    assert words in said
    assert "hushhush" not in said
    assert not output.exists()


def test_what_is_missing_or_excludes_each_other_is_said(capsys, tmp_path, profile, answer, rules):
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps(RESULTS))
    assert "what was searched for is missing" in complaint(capsys, "rerank", plain, "--profile", profile)
    assert "nothing to go by" in complaint(capsys, "rerank", answer, "--without-profile")
    alone = ("rerank", answer, "--without-profile", "--rules", rules)
    assert "excludes" in complaint(capsys, *alone, "--risk", "paper")
    assert "--weight must be from 0 to 1" in complaint(capsys, "rerank", answer, "--profile", profile, "--weight", 2)
    assert "is a directory" in complaint(capsys, "rerank", tmp_path, "--profile", profile)


def test_rules_are_exported_for_other_tools(capsys, tmp_path, rules):
    goggle = told(capsys, "rules", "export", rules, "--format", "goggles", "--name", "Mine")["rules"].splitlines()
    assert goggle[0] == "! name: Mine"
    assert {"$discard,site=forum.example", "$boost=10,site=games.example", "$downrank=3,site=news.example"} < set(
        goggle
    )
    output = tmp_path / "settings.yml"
    assert run(["shield", "rules", "export", str(rules), "--format", "searxng", "-o", str(output)]) == 0
    assert output.read_text().startswith("hostnames:\n  remove:\n    - '(.*\\.)?forum\\.example$'\n  high_priority:")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x x", "is not TOML"),
        ("", "there is no rule in it"),
        ("blok = []", "rules have no part 'blok'"),
        ('block = "a.example"', "block is no list of sites"),
        ("block = [3]", "block holds something that is no text"),
        ('[boost]\n"a.example" = 11', "from 1 to 10"),
        ('[boost]\n"a.example" = true', "whole number"),
        ('[boost]\n"a.example" = 1.5', "whole number"),
        ('block = ["https://a.example/x"]', "not name a site"),
        ('block = ["a.example"]\n[boost]\n"a.example" = 1', "a site has one rule"),
    ],
)
def test_wrong_rules_are_refused_with_the_file_named(capsys, tmp_path, content, words):
    path, output = tmp_path / "rules.toml", tmp_path / "out"
    path.write_text(content)
    said = complaint(capsys, "rules", "export", path, "--format", "goggles", "-o", output)
    assert words in said
    assert "rules.toml" in said
    assert not output.exists()

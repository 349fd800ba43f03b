"""`aidos shield explain` as a person uses it, and everything that can be wrong with what it is given."""

import json
import os
import shlex
import sqlite3
import stat
from contextlib import closing

import pytest

import aidos
from aidos.errors import InputError, ParameterError
from aidos.surfaces.cli import run

EXCESS = ("--risk", "excess")
NOTES = {
    "garden": "Vegetable patch: compost, seeds, pruning the roses, gardening in spring",
    "diary": "Garden diary: soil, seeds and compost, the vegetable patch",
    "games": "Video games: the console, a new patch for the multiplayer game",
    "questions": "Menopause: hot flushes, hormone patch, night sweats",
    "letter": "Letter to the debt collector about the loan repayment",
}
TABLE = "id\tparent\tname\tsensitive\tdescription\twords\n"


@pytest.fixture
def profile(tmp_path):
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / f"{name}.txt").write_text(text)
    path = tmp_path / "profile.json"
    assert run(["shield", "profile", "build", str(tmp_path / "notes"), "-o", str(path), "--quiet"]) == 0
    return path


def told(capsys, *arguments):
    capsys.readouterr()
    assert run(["shield", *map(str, arguments), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def shown(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run([*map(str, arguments)]) == code
    return capsys.readouterr()


def complaint(capsys, *arguments):
    said = shown(capsys, *arguments, code=2)
    assert said.out == ""
    return said.err


def change(profile, **fields):
    held = json.loads(profile.read_text())
    profile.write_text(json.dumps(held | fields))


def test_the_tree_says_what_is_sent_and_what_is_hidden_and_why(capsys, profile):
    said = shown(capsys, "shield", "explain", "patch", "--profile", profile)
    lines = said.out.splitlines()
    assert any("Gardening" in line and "sent  50% of yours" in line for line in lines)
    assert any("Menopause" in line and "hidden, sensitive" in line for line in lines)
    assert any(line.startswith("why") and "as if nothing marked as sensitive were held" in line for line in lines)
    assert not any(line.startswith("risk: what it gives away") for line in lines)
    assert "the query itself is not protected" in said.err
    assert "not differential privacy" in said.err
    assert not any("Debt" in line for line in lines)  # not what the query is about


def test_facts_for_machines_agree_with_the_limit(capsys, profile):
    for limit in (0.0, 0.02, 0.1, 0.6, 1.0):
        found = told(capsys, "explain", "patch", "--profile", profile, *EXCESS, "--risk-limit", limit)
        assert found["after"]["risk"] <= limit + 1e-9
        assert found["after"]["power"] <= found["before"]["power"] + 1e-12
        assert ("menopause" in found["sent"]) == (limit >= 0.6)
        assert set(found["sent"]).isdisjoint(found["hidden"])
        assert {each["topic"] for each in found["topics"]} == {*found["sent"], *found["hidden"]}
        assert found["settings"]["risk_limit"] == limit
    exact = told(capsys, "explain", "patch", "--profile", profile, *EXCESS, "--algorithm", "exact")
    ratio = told(capsys, "explain", "patch", "--profile", profile, *EXCESS)
    assert exact["after"]["power"] >= ratio["after"]["power"]


def test_by_default_what_is_sent_does_not_depend_on_marks_and_takes_no_limit(capsys, profile, tmp_path):
    found = told(capsys, "explain", "patch", "--profile", profile)
    assert "menopause" in found["hidden"]
    assert found["after"]["utility"] > 0
    kept = json.loads(profile.read_text())
    del kept["supports"]["menopause"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(kept))
    other.chmod(0o600)
    again = told(capsys, "explain", "patch", "--profile", other)
    assert (again["outcome"], again["sent"], again["after"]) == (found["outcome"], found["sent"], found["after"])
    assert "pruned to a limit" in complaint(
        capsys, "shield", "explain", "patch", "--profile", profile, "--risk-limit", 0.1
    )


def test_a_clear_query_and_a_strange_one_send_nothing(capsys, profile):
    distinct = told(capsys, "explain", "patch", "--profile", profile, "--distinct-from", 0.1)
    assert (distinct["outcome"], distinct["sent"], distinct["after"]["power"]) == ("distinct", [], 0)
    strange = told(capsys, "explain", "sicilian defence", "--profile", profile)
    assert strange["outcome"] == "nothing-in-common"
    unknown = shown(capsys, "shield", "explain", "xqzzy", "--profile", profile)
    assert "no topic was found for the query" in unknown.out


def test_explaining_changes_nothing_unless_asked_and_memory_lasts_until_forgotten(capsys, profile):
    before = profile.read_bytes()
    told(capsys, "explain", "patch", "--profile", profile)
    told(capsys, "explain", "patch", "--profile", profile, "--no-remember")
    assert profile.read_bytes() == before
    told(capsys, "explain", "patch", "--profile", profile, *EXCESS, "--risk-limit", 0.1, "--remember")
    held = json.loads(profile.read_text())
    assert held["hidden"] == ["reproduction", "menopause"]
    assert "gardening" in held["shown"]
    assert stat.S_IMODE(profile.stat().st_mode) == 0o600
    later = told(capsys, "explain", "patch", "--profile", profile, *EXCESS, "--risk-limit", 1)
    assert "reproduction" in later["hidden"]
    assert "hidden earlier in the session" in later["reason"]
    assert (held["queries"], later["queries_earlier"]) == (1, 1)
    told(capsys, "explain", "patch", "--profile", profile, *EXCESS, "--risk-limit", 0.1, "--remember")
    again = json.loads(profile.read_text())
    assert (again["hidden"], again["shown"], again["queries"]) == (held["hidden"], held["shown"], 2)
    assert again["asked"]["menopause"] == pytest.approx(2 * held["asked"]["menopause"])
    told(capsys, "profile", "forget", profile, "--session")
    held = json.loads(profile.read_text())
    assert (held["hidden"], held["shown"], held["asked"], held["queries"]) == ([], [], {}, 0)
    assert "menopause" in told(capsys, "explain", "patch", "--profile", profile, *EXCESS, "--risk-limit", 1)["sent"]


def test_what_queries_tell_by_themselves_grows_and_what_helps_is_said(capsys, profile):
    (first,) = told(capsys, "explain", "patch", "--profile", profile)["told_by_queries"]
    assert first["topic"] == "reproduction"
    assert first["of_anybody"] == first["before"] < first["now"]
    calm = shown(capsys, "shield", "explain", "patch", "--profile", profile)
    assert "What your queries alone let an observer believe" in calm.out
    for _ in range(8):
        told(capsys, "explain", "menopause", "--profile", profile, "--remember")
    loud = shown(capsys, "shield", "explain", "patch", "--profile", profile)
    assert "after 8 remembered queries" in loud.out
    assert "mediator" in loud.err
    assert told(capsys, "explain", "patch", "--profile", profile)["told_by_queries"][0]["before"] > 0.9


def test_the_page_is_private_and_tells_the_same(capsys, profile, tmp_path):
    page = tmp_path / "page.html"
    said = shown(capsys, "shield", "explain", "patch", "--profile", profile, "-o", page)
    assert said.out.splitlines()[-1] == str(page)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    text = page.read_text()
    for words in (
        "not for release",
        "hidden, sensitive",
        "Menopause",
        "not differential",
        "aidos shield explain patch",
    ):
        assert words in text
    assert "<script" not in text


def test_a_recipe_takes_the_place_of_the_options(capsys, profile, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'mechanism = "profile-generalisation"\n[parameters]\nrisk = "excess"\nrisk_limit = 0.0\nalgorithm = "exact"\n'
    )
    found = told(capsys, "explain", "patch", "--profile", profile, "--recipe", recipe)
    assert (found["settings"]["risk_limit"], found["settings"]["algorithm"]) == (0, "exact")
    asked = ("shield", "explain", "patch", "--profile", profile, "--recipe", recipe)
    assert "takes the place" in complaint(capsys, *asked, "--risk", "paper")
    recipe.write_text('mechanism = "profile-generalisation"\n[parameters]\nrisk_limit = 2\nlimit = 3\n')
    said = complaint(capsys, *asked)
    assert "risk_limit" in said
    assert "limit: no such parameter" in said
    recipe.write_text('mechanism = "rounds"\n')
    assert "a recipe for rounds" in complaint(capsys, *asked)


def test_a_profile_opened_in_python_tells_the_same_and_reads_the_file_again(capsys, profile):
    shield = aidos.shield(profile)
    found = told(capsys, "explain", "patch", "--profile", profile, *EXCESS, "--risk-limit", 0.1)
    assert json.loads(shield.explain("patch", risk="excess", risk_limit=0.1).to_json()) == found
    assert json.loads(shield.to_json()) == told(capsys, "profile", "show", profile)
    shield.explain("patch", risk="excess", risk_limit=0.1, remember=True)
    assert "reproduction" in shield.explain("patch", risk="excess", risk_limit=1.0).facts()["hidden"]
    shield.forget(session=True)
    assert "menopause" in shield.explain("patch", risk="excess", risk_limit=1.0).facts()["sent"]
    assert shield.edit(sensitive={"gardening": 2.5}).facts()["sensitivities"]["gardening"] == 2.5
    shield.forget("menopause")
    assert "menopause" not in profile.read_text()
    assert shield.forget(everything=True).facts()["forgotten"]
    with pytest.raises(InputError, match="there is no profile") as caught:
        shield.explain("patch")
    assert "aidos shield profile build" in caught.value.hint


def test_results_are_reranked_in_python_from_a_list_as_from_a_file(profile, tmp_path):
    results = [
        {"url": "https://a.example", "title": "Security patch"},
        {"url": "https://b.example", "title": "Vegetable patch: compost and gardening"},
    ]
    (tmp_path / "results.json").write_text(json.dumps(results))
    shield = aidos.shield(profile)
    listed = shield.rerank(results, "patch", weight=1.0)
    read = shield.rerank(tmp_path / "results.json", "patch", weight=1.0)
    assert listed.facts() == read.facts()
    assert [each["title"] for each in listed.results] == [results[1]["title"], results[0]["title"]]
    assert listed.to_pandas()["because_of"][0] == "Gardening"
    listed.save(tmp_path / "mine.json")
    assert json.loads((tmp_path / "mine.json").read_text()) == listed.results
    with pytest.raises(ParameterError, match="no parameter wait"):
        shield.rerank(results, "patch", wait=1.0)
    for wrong in ([1], 7, []):
        with pytest.raises(InputError, match="the list"):
            shield.rerank(wrong, "patch")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--risk-limit", "1.5"), "--risk-limit must be at most 1"),
        (("--risk-limit=-0.1",), "--risk-limit must be at least 0"),
        (("--risk-limit", "nan"), "--risk-limit must be finite"),
        (("--distinct-from", "2"), "--distinct-from must be at most 1"),
        (("--algorithm", "best"), "--algorithm must be one of ratio"),
        (("--risk", "none"), "--risk must be one of unmarked, excess, paper"),
    ],
)
def test_options_out_of_their_limits_are_named(capsys, profile, options, words):
    assert words in complaint(capsys, "shield", "explain", "patch", "--profile", profile, *options)


def test_an_empty_query_and_a_missing_profile_are_refused(capsys, profile, tmp_path):
    assert "the query is empty" in complaint(capsys, "shield", "explain", " ", "--profile", profile)
    assert "there is no profile" in complaint(capsys, "shield", "explain", "patch", "--profile", tmp_path / "none.json")


def test_topics_that_the_taxonomy_does_not_have_are_named(capsys, profile, tmp_path):
    change(profile, supports={"gardening": 2, "zeppelins": 1, "airships": 4})
    said = complaint(capsys, "shield", "explain", "patch", "--profile", profile)
    assert "the taxonomy does not have 2 of its topics: zeppelins, airships" in said
    other = tmp_path / "other.txt"
    other.write_text("Arts > Music\nFood\n")
    assert "another taxonomy" in complaint(
        capsys, "shield", "explain", "patch", "--profile", profile, "--taxonomy", other
    )


def test_overlapping_sensitive_topics_are_explained_and_the_merge_that_is_offered_works(capsys, profile):
    change(profile, sensitivities={"reproduction": 1, "menopause": 4, "money-trouble": 1})
    before = profile.read_bytes()
    said = complaint(capsys, "shield", "explain", "patch", "--profile", profile)
    assert "menopause is below reproduction" in said
    assert profile.read_bytes() == before
    offered = shlex.split(said.partition("stand for both: ")[2])
    assert run([*offered[1:], "--quiet"]) == 0
    assert json.loads(profile.read_text())["sensitivities"] == {"reproduction": 4, "money-trouble": 1}
    assert told(capsys, "explain", "patch", "--profile", profile)["outcome"] == "sent"


@pytest.mark.parametrize("weight", [-1, 0, float("nan"), float("inf"), True, "2"])
def test_sensitivities_that_are_no_weights_are_named(capsys, profile, weight):
    change(profile, sensitivities={"reproduction": weight})
    said = complaint(capsys, "shield", "explain", "patch", "--profile", profile)
    assert "sensitivities must be numbers above 0; topics concerned: reproduction" in said


@pytest.mark.parametrize("weight", ["-1", "0", "nan", "inf"])
def test_such_weights_cannot_be_given_either(capsys, profile, weight):
    before = profile.read_bytes()
    said = complaint(capsys, "shield", "profile", "edit", profile, f"--sensitive=chess={weight}")
    assert "above 0 and finite" in said
    assert profile.read_bytes() == before


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("r\t\tall\t\t\t\na\tb\ta\t\t\t\nb\ta\tb\t\t\t\n", ("line 3", "above and below one another: a > b > a")),
        ("r\t\tall\t\t\t\ns\t\tmore\t\t\t\n", ("one root", "r, s")),
        ("r\t\tall\t\t\t\na\tgone\ta\t\t\t\n", ("line 3", "does not have: a (parent gone)")),
        ("r\t\tall\t\t\t\na\tr\ta\t\t\t\na\tr\ta\t\t\t\n", ("line 4", "more than once: a")),
    ],
)
def test_broken_taxonomies_are_refused_and_the_topics_named(capsys, profile, tmp_path, rows, words):
    broken = tmp_path / "broken.tsv"
    broken.write_text(TABLE + rows)
    output = tmp_path / "new.json"
    for command in (
        ("shield", "explain", "patch", "--profile", profile, "--taxonomy", broken),
        ("shield", "profile", "build", tmp_path / "notes", "-o", output, "--taxonomy", broken),
        ("taxonomy", "show", "--taxonomy", broken),
        ("taxonomy", "import", broken, "-o", tmp_path / "new.taxonomy"),
    ):
        said = complaint(capsys, *command)
        assert all(word in said for word in words), said
    assert not output.exists()
    assert not (tmp_path / "new.taxonomy").exists()


def firefox(path, titles):
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "create table moz_places (id integer primary key, url text, title text, visit_count int, "
            "last_visit_date int, hidden int)"
        )
        database.execute(
            "create table moz_bookmarks (id integer primary key, type int, fk int, title text, dateAdded int)"
        )
        rows = [
            (f"https://site{number}.example/", title, 1, 1_700_000_000_000_000, 0)
            for number, title in enumerate(titles)
        ]
        database.executemany(
            "insert into moz_places (url, title, visit_count, last_visit_date, hidden) values (?, ?, ?, ?, ?)", rows
        )
        database.commit()
    return path


def test_a_locked_browser_database_is_read_from_a_copy_and_left_as_it_was(capsys, tmp_path):
    source = firefox(tmp_path / "places.sqlite", ["Vegetable patch, gardening, compost"])
    with closing(sqlite3.connect(source, isolation_level=None)) as browser:
        browser.execute("begin exclusive")
        before = source.read_bytes()
        assert told(capsys, "profile", "build", source, "-o", tmp_path / "p.json")["mapped"] == 1
        assert source.read_bytes() == before
    assert not [name for name in os.listdir(tmp_path) if name not in {"places.sqlite", "p.json"}]


def test_an_empty_history_makes_no_profile(capsys, tmp_path):
    source = firefox(tmp_path / "places.sqlite", [])
    complaint(capsys, "shield", "profile", "build", source, "-o", tmp_path / "p.json")
    assert os.listdir(tmp_path) == ["places.sqlite"]


def test_a_page_that_cannot_be_written_leaves_the_memory_alone(capsys, profile, tmp_path):
    before = profile.read_bytes()
    page = tmp_path / "nowhere" / "page.html"
    complaint(capsys, "shield", "explain", "patch", "--profile", profile, "--remember", "-o", page)
    assert profile.read_bytes() == before

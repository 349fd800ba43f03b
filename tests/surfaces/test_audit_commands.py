"""`aidos audit` as a person uses it, and everything that can be wrong with what it is given."""

import json
import random
import stat
from pathlib import Path

import pytest

from aidos.surfaces.cli import run

TEXTS = {
    "debt": ("Debt advice and loan repayment", "Debt collector, bankruptcy, owing money to creditors"),
    "gardening": ("Gardening in spring", "Compost, seeds, pruning roses in the garden"),
    "chess": ("Chess openings", "Sicilian defence, endgame, grandmaster, chess board"),
    "football": ("Football league", "Goalkeeper, penalty, football club, striker"),
}
SECRET = "xylophone"
"""In every search, so that a leak shows."""


def results(draw, number):
    """Twelve results about four topics in random order, known by their addresses."""
    topics = draw.sample([topic for topic in TEXTS for _ in range(3)], 12)
    return [
        {
            "url": f"https://site{number}.example.org/{topic}/{place}",
            "title": TEXTS[topic][0],
            "snippet": TEXTS[topic][1],
            "topic": topic,
        }
        for place, topic in enumerate(topics)
    ]


def shaken(draw, listed):
    """Some neighbours change places, as they do for no reason."""
    listed = list(listed)
    for place in range(len(listed) - 1):
        if draw.random() < 0.15:
            listed[place], listed[place + 1] = listed[place + 1], listed[place]
    return listed


def lifted(listed, topic):
    return [each for _, each in sorted(enumerate(listed), key=lambda pair: pair[0] - 4 * (pair[1]["topic"] == topic))]


def write_pairs(path, *, queries=60, topic="debt", rate=0.7, seed=3):
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as stream:
        for number in range(queries):
            vanilla = results(draw, number)
            again, personalised = shaken(draw, vanilla), shaken(draw, vanilla)
            if topic and draw.random() < rate:
                personalised = lifted(personalised, topic)
            turns = draw.sample(range(1, 4), 3)
            fetches = {
                side: {"place": "here", "bucket": "usual", "turn": turn}
                for side, turn in zip(("vanilla", "personalised", "again"), turns, strict=True)
            }
            pair = {"vanilla": vanilla, "personalised": personalised, "again": again, "fetches": fetches}
            stream.write(json.dumps({"query": f"{SECRET} {number}", **pair}) + "\n")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("audit")


@pytest.fixture(scope="module")
def pairs(place):
    return write_pairs(place / "pairs.jsonl")


@pytest.fixture(scope="module")
def audit(place, pairs):
    output = place / "audit"
    assert run(["audit", "learn", str(pairs), "-o", str(output), "--quiet"]) == 0
    return output


@pytest.fixture
def profile(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "garden.txt").write_text("Compost, seeds and gardening in spring")
    path = tmp_path / "profile.json"
    assert run(["shield", "profile", "build", str(tmp_path / "notes"), "-o", str(path), "--quiet"]) == 0
    return path


def told(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run(["audit", *map(str, arguments), "--json", "--quiet"]) == code
    said = capsys.readouterr()
    return json.loads(said.out)


def shown(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run(["audit", *map(str, arguments)]) == code
    return capsys.readouterr()


def complaint(capsys, *arguments):
    said = shown(capsys, *arguments, code=2)
    assert said.out == ""
    assert "Traceback" not in said.err
    return said.err


def is_private(path):
    return stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_check_tells_numbers_and_remedies_and_no_search(capsys, pairs):
    said = shown(capsys, "check", pairs)
    assert SECRET not in said.out + said.err
    assert "example.org" not in said.out
    assert "pairs                               60" in said.out
    assert said.err == f"aidos: next: aidos audit learn {pairs} -o audit\n"
    found = told(capsys, "check", pairs)
    assert (found["pairs"], found["with_again"], found["can_learn"]) == (60, 60, True)
    assert SECRET not in json.dumps(found)


def test_check_fails_where_nothing_can_be_learned(capsys, tmp_path):
    single = tmp_path / "single.jsonl"
    one = [{"url": "https://a.example.org", "title": "Debt"}]
    single.write_text(json.dumps({"query": SECRET, "vanilla": one, "personalised": one}) + "\n")
    said = shown(capsys, "check", single, code=2)
    assert "stops: all pairs have one result only" in said.out
    assert "next:" not in said.err
    assert told(capsys, "check", single, code=2)["can_learn"] is False
    assert "nothing can be learned" in complaint(capsys, "learn", single)


def test_lists_of_several_accounts_are_never_mixed(capsys, tmp_path, pairs):
    both = tmp_path / "both.jsonl"
    lines = [json.loads(line) for line in pairs.read_text().splitlines()]
    with both.open("w") as stream:
        for number, line in enumerate(lines):
            stream.write(json.dumps({**line, "login": f"person {number % 2}"}) + "\n")
    renamed = ("--column", "account=login")
    assert "--account NAME" in complaint(capsys, "check", both, *renamed)
    assert told(capsys, "check", both, *renamed, "--account", "person 1")["pairs"] == 30
    assert "OURS=THEIRS" in complaint(capsys, "check", both, "--column", "account")


def test_sides_can_be_named_by_options(capsys, tmp_path, pairs):
    lines = [json.loads(line) for line in pairs.read_text().splitlines()][:20]
    for side in ("vanilla", "personalised", "again"):
        with (tmp_path / f"{side[0]}.jsonl").open("w") as stream:
            for line in lines:
                stream.write(json.dumps({"query": line["query"], "results": line[side]}) + "\n")
    sides = [
        word for side in ("vanilla", "personalised", "again") for word in (f"--{side}", tmp_path / f"{side[0]}.jsonl")
    ]
    assert f"next: aidos audit learn --vanilla {tmp_path}/v.jsonl" in shown(capsys, "check", *sides).err
    found = told(capsys, "check", *sides)
    assert (found["pairs"], found["with_again"]) == (20, 20)


def test_learning_tells_topics_and_numbers_and_keeps_searches_in_private_files(capsys, place, pairs, audit):
    said = shown(capsys, "learn", pairs)
    assert "It lifts results about Debt" in " ".join(said.out.split())
    assert "lifts it" in said.out
    assert SECRET not in said.out + said.err
    assert "next: -o DIR" in said.err
    assert is_private(audit)
    assert {path.name for path in audit.iterdir()} == {"finding.json", "report.html", "recipe.toml"}
    assert all(is_private(path) for path in audit.iterdir())
    text = (audit / "report.html").read_text()
    assert SECRET in text
    assert "not for release" in text
    assert "<script" not in text
    assert not list(place.glob(".*partial"))


def test_the_same_seed_gives_the_same_finding_and_facts_for_machines_hold_no_search(capsys, pairs, audit, tmp_path):
    found = told(capsys, "learn", pairs, "-o", tmp_path / "again")
    assert (tmp_path / "again" / "finding.json").read_bytes() == (audit / "finding.json").read_bytes()
    assert SECRET not in json.dumps(found)
    assert found["detected"] is True
    assert [each["name"] for each in found["topics"] if each["found"] and each["weight"]["value"] > 0] == ["Debt"]
    assert 0.4 < found["rate"]["value"] < 0.95
    assert found["controlled"] is True


def test_where_nothing_is_personalised_nothing_is_detected(capsys, tmp_path):
    null = write_pairs(tmp_path / "null.jsonl", topic="", seed=6)
    said = shown(capsys, "learn", null, "-o", tmp_path / "null")
    assert "Nothing found in 60 searches" in " ".join(said.out.split())
    text = (tmp_path / "null" / "report.html").read_text()
    assert "does not mean that the service holds no profile" in text
    assert SECRET not in text


def test_a_recipe_gives_the_same_audit_and_takes_the_place_of_options(capsys, pairs, audit, tmp_path):
    recipe = audit / "recipe.toml"
    assert 'mechanism = "profile-audit"' in recipe.read_text()
    assert run(["audit", "learn", str(pairs), "--recipe", str(recipe), "-o", str(tmp_path / "again"), "--quiet"]) == 0
    assert (tmp_path / "again" / "finding.json").read_bytes() == (audit / "finding.json").read_bytes()
    assert "takes the place" in complaint(capsys, "learn", pairs, "--recipe", recipe, "--seed", 1)
    other = tmp_path / "other.toml"
    other.write_text('mechanism = "rounds"\n')
    assert "a recipe for rounds" in complaint(capsys, "learn", pairs, "--recipe", other)
    capsys.readouterr()
    assert run(["publish", "log.tsv", "--recipe", str(recipe), "-o", str(tmp_path / "out")]) == 2
    assert "profile-audit publishes nothing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--level", "1.5"), "--level must be less than 1"),
        (("--level", "0"), "--level must be greater than 0"),
        (("--confidence", "nan"), "--confidence must be"),
        (("--method", "guess"), "--method must be one of"),
        (("--topics", "magic"), "--topics"),
        (("--mark", "all"), "go with --mark-sensitive"),
        (("--number", "5"), "--number goes with --topics lda"),
    ],
)
def test_options_out_of_their_limits_are_named(capsys, pairs, options, words):
    assert words in complaint(capsys, "learn", pairs, *options)


def test_a_place_that_is_taken_is_refused_before_anything_is_read(capsys, audit, tmp_path):
    assert "holds an audit already" in complaint(capsys, "learn", tmp_path / "none.jsonl", "-o", audit)
    assert "does not exist" in complaint(capsys, "learn", tmp_path / "none.jsonl", "-o", tmp_path / "a" / "b")
    assert "none.jsonl" in complaint(capsys, "learn", tmp_path / "none.jsonl")
    assert "no file was named" in complaint(capsys, "learn")


def test_sensitive_topics_are_marked_in_the_profile_and_stay_marked(capsys, pairs, profile):
    found = told(capsys, "learn", pairs, "--mark-sensitive", profile, "--sensitivity", 2.5)
    assert found["marked"]["marked"] == ["Debt"]
    held = json.loads(profile.read_text())["sensitivities"]
    assert held["debt"] == 2.5
    assert is_private(profile)
    before = profile.read_bytes()
    said = shown(capsys, "learn", pairs, "--mark-sensitive", profile)
    assert "marked already, itself or above: Debt" in said.out
    assert profile.read_bytes() == before


def test_profiles_are_refused_before_anything_is_learned(capsys, pairs, profile, tmp_path):
    before = profile.read_bytes()
    marking = ("--mark-sensitive", profile)
    assert "not those of the profile" in complaint(capsys, "learn", pairs, *marking, "--topics", "lda", "--number", 3)
    assert "greater than 0" in complaint(capsys, "learn", pairs, *marking, "--sensitivity=-1")
    maps = tmp_path / "maps.csv"
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    lines = [f"{each['url']},my {each['topic']},1" for row in rows for each in row["vanilla"]]
    maps.write_text("\n".join(["address,topic,share", *lines]) + "\n")
    assert "not of the profile's taxonomy" in complaint(capsys, "learn", pairs, *marking, "--topic-maps", maps)
    assert "there is no profile" in complaint(capsys, "learn", pairs, "--mark-sensitive", tmp_path / "none.json")
    assert profile.read_bytes() == before


def test_given_topics_take_the_place_of_the_taxonomy(capsys, pairs, tmp_path):
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    lines = [f"{each['url']},my {each['topic']},1" for row in rows for each in row["vanilla"]]
    maps = tmp_path / "maps.csv"
    maps.write_text("\n".join(["address,topic,share", *lines]) + "\n")
    found = told(capsys, "learn", pairs, "--topic-maps", maps, "-o", tmp_path / "given")
    assert [each["name"] for each in found["topics"] if each["found"] and each["weight"]["value"] > 0] == ["my debt"]
    said = complaint(capsys, "learn", pairs, "--same-topics", tmp_path / "given")
    assert "--topic-maps FILE" in said


def test_learned_topics_are_kept_and_can_be_used_again(capsys, pairs, audit, tmp_path):
    options = ("--topics", "lda", "--number", 4)
    told(capsys, "learn", pairs, *options, "-o", tmp_path / "first")
    assert is_private(tmp_path / "first" / "topics.npz")
    later = write_pairs(tmp_path / "later.jsonl", seed=9)
    told(capsys, "learn", later, "--same-topics", tmp_path / "first", "-o", tmp_path / "second")
    assert len(told(capsys, "compare", tmp_path / "first", tmp_path / "second")["topics"]) == 4
    assert "--same-topics" in complaint(capsys, "compare", tmp_path / "first", audit)
    (tmp_path / "first" / "topics.npz").unlink()
    assert "are gone" in complaint(capsys, "learn", later, "--same-topics", tmp_path / "first")


def test_topics_can_be_learned_together_with_the_profile(capsys, pairs):
    options = ("--topics", "lda", "--number", 4, "--joint")
    found = told(capsys, "learn", pairs, *options)
    assert found["detected"] is True
    best = max(found["topics"], key=lambda each: each["weight"]["value"])
    assert best["found"]
    assert {"debt", "loan", "money"} & set(best["name"].split(", "))


def test_two_audits_are_compared_in_the_terminal_and_on_a_private_page(capsys, audit, tmp_path):
    later = write_pairs(tmp_path / "later.jsonl", topic="", seed=8)
    told(capsys, "learn", later, "--same-topics", audit, "-o", tmp_path / "after")
    page = tmp_path / "page.html"
    said = shown(capsys, "compare", audit, tmp_path / "after", "-o", page)
    words = " ".join(said.out.split())
    assert "Before: personalised by topic. After: nothing found." in words
    assert "It pulls less on Debt" in words
    assert said.out.splitlines()[-1] == str(page)
    assert is_private(page)
    assert "Before and after" in page.read_text()
    found = told(capsys, "compare", audit / "finding.json", tmp_path / "after" / "finding.json")
    debt = next(each for each in found["topics"] if each["id"] == "debt")
    assert debt["changed"] is True
    assert debt["change"]["high"] < 0
    assert SECRET not in json.dumps(found) + said.out


def test_evidence_shows_both_lists_to_whoever_asks_for_them(capsys, audit):
    listed = shown(capsys, "evidence", audit)
    assert SECRET in listed.out
    one = shown(capsys, "evidence", audit, "--query", 1)
    assert "about Debt" in one.out
    assert "with account" in one.out
    assert len(told(capsys, "evidence", audit, "--query", 1)["evidence"]) == 1
    assert "--query must be from 1 to" in complaint(capsys, "evidence", audit, "--query", 99)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"format": 1}', '{"format": 99}', "\udcff", "[" * 100_000])
def test_damaged_findings_are_refused_in_words(capsys, audit, tmp_path, content):
    broken = tmp_path / "finding.json"
    broken.write_bytes(content.encode("utf-8", errors="surrogateescape"))
    for command in (("compare", audit, broken), ("compare", broken, audit), ("evidence", tmp_path)):
        said = complaint(capsys, *command)
        assert "finding.json" in said
        assert "hint:" in said


def test_missing_findings_are_refused(capsys, audit, tmp_path):
    assert "there is no file" in complaint(capsys, "compare", audit, tmp_path)
    assert "what to do is missing" in complaint(capsys)


def test_the_whole_loop_is_rehearsed_and_its_files_can_be_used(capsys, tmp_path):
    output = tmp_path / "my loop"
    found = told(capsys, "rehearse", "-o", output, "--queries", 25)
    assert found["queries"] == 25
    assert len(found["truth"]) > 1
    names = {str(path.relative_to(output)) for path in output.rglob("*") if path.is_file()}
    assert names == {
        "before.jsonl",
        "after.jsonl",
        "profile.json",
        "comparison.html",
        *(
            str(Path(part) / name)
            for part in ("before", "after")
            for name in ("finding.json", "report.html", "recipe.toml")
        ),
    }
    assert all(is_private(path) for path in (output, *output.rglob("*")))
    assert f"-o &#39;{output}&#39; --queries 25" in (output / "comparison.html").read_text()
    assert told(capsys, "check", output / "before.jsonl")["pairs"] == 25
    assert told(capsys, "compare", output / "before", output / "after")["detected"] == found["comparison"]["detected"]
    capsys.readouterr()
    assert run(["shield", "profile", "show", str(output / "profile.json"), "--json", "--quiet"]) == 0
    assert set(json.loads(capsys.readouterr().out)["supports"]) == set(found["truth"])
    assert "holds something else already" in complaint(capsys, "rehearse", "-o", output)
    assert "--queries must be at least" in complaint(capsys, "rehearse", "-o", tmp_path / "new", "--queries", 3)
    assert "accounts" in complaint(capsys, "rehearse", "-o", tmp_path / "new", "--account", 9999)

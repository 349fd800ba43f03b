"""`aidos evaluate ups` as a person uses it."""

import json

import pyarrow.parquet as pq
import pytest

from aidos.studies.ups import eavesdropping
from aidos.studies.ups.plan import UpsExperiment
from aidos.studies.ups.searchers import PEOPLE
from aidos.surfaces.cli import run

QUICK = ("--size", "150", "--part", "quality")


def told(capsys, *arguments):
    line = ["evaluate", "ups", *map(str, arguments), "--json", "--quiet"]
    with pytest.MonkeyPatch.context() as typed:
        typed.setattr("sys.argv", ["aidos", *line])
        assert run(line) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run(["evaluate", "ups", *map(str, arguments)]) == 2
    return capsys.readouterr().err


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Where one run is kept: the first test fills it, and what comes later goes on from there."""
    return tmp_path_factory.mktemp("ups") / "results"


def test_a_part_gives_tables_a_page_and_json(capsys, output):
    found = told(capsys, *QUICK, "-o", output)
    assert {row["algorithm"] for row in found["quality"]} == {"ratio", "greedy-il", "greedy-dp"}
    assert all(claim["holds"] for claim in found["claims"] if "ratio greedy" in claim["finding"])
    assert pq.read_table(output / "quality.parquet").num_rows == len(found["quality"])
    page = (output / "report.html").read_text()
    assert "Beside the best there is" in page
    assert "--part quality" in page


def test_what_is_done_is_kept_and_another_seed_is_refused(capsys, output):
    first = told(capsys, *QUICK, "-o", output)
    kept = (output / "best-compared.parquet").stat().st_mtime_ns
    assert told(capsys, *QUICK, "-o", output) == first
    assert (output / "best-compared.parquet").stat().st_mtime_ns == kept
    assert "another experiment" in complaint(capsys, *QUICK, "--seed", "8", "-o", output)


@pytest.mark.slow
def test_another_taxonomy_may_be_named(capsys, tmp_path):
    lines = [f"{a} > {a}{b} > {a}{b}{c}" for a in "abcd" for b in "efgh" for c in "ijkl"]
    (tmp_path / "own.txt").write_text("\n".join(lines) + "\n")
    found = told(capsys, *QUICK, "--taxonomy", tmp_path / "own.txt", "-o", tmp_path / "results")
    assert found["facts"]["topics"] > 64
    assert found["facts"]["taxonomy"] == "own.txt"


def test_people_are_told_what_holds(capsys, output):
    assert run(["evaluate", "ups", *QUICK, "-o", str(output)]) == 0
    shown = capsys.readouterr()
    assert "GreedyDP and GreedyIL agree" in " ".join(shown.out.split())
    assert "report.html" in shown.err


ASKED = {
    "ill": ("menopause hot flushes", "diabetes insulin", "vegetable gardening compost", "menopause", "insulin", "lawn"),
    "well": ("jazz piano", "garden pests", "lawn mower", "piano", "vegetable gardening compost", "jazz"),
}


def log(path, people):
    rows = [(person, number, text) for person, texts in people.items() for number, text in enumerate(texts)]
    lines = [f"{person},2024-03-05T09:{number:02}:00,{text}" for person, number, text in rows]
    path.write_text("\n".join(["client_id,timestamp,user_query", *lines]) + "\n")
    return path


def profile(capsys, directory, *options):
    (directory / "texts").mkdir()
    (directory / "texts" / "one.txt").write_text("menopause, hot flushes, hormones")
    (directory / "texts" / "two.txt").write_text("vegetable gardening, compost and seeds")
    made = directory / "mine.json"
    assert run(["shield", "profile", "build", str(directory / "texts"), "-o", str(made), "--quiet", *options]) == 0
    capsys.readouterr()
    return made


def test_a_log_of_ones_own_gives_private_findings(capsys, tmp_path):
    source, output = log(tmp_path / "log.csv", ASKED), tmp_path / "results"
    found = told(capsys, "--log", source, "--part", "limits", "-o", output)
    assert {row["tree"] for row in found["limits"]} == {"random", "people of the log"}
    assert "2 of 2 people of a search log" in found["facts"]["about"]
    assert "reranking" in found["facts"]["left_out"]
    page = (output / "report.html").read_text()
    assert "Finding: not for release" in page
    assert "known in the sample world alone" in page
    assert not any(text in page for texts in ASKED.values() for text in texts)
    assert all(not path.stat().st_mode & 0o077 for path in (output, *output.iterdir()))
    other = log(tmp_path / "other.csv", {**ASKED, "third": ASKED["ill"]})
    assert "another experiment" in complaint(capsys, "--log", other, "--part", "limits", "-o", output)
    mine = profile(capsys, tmp_path)
    assert "another experiment" in complaint(
        capsys, "--log", source, "--part", "limits", "--profile", mine, "-o", output
    )


@pytest.mark.slow
def test_a_profile_of_ones_own_goes_with_the_queries_of_a_log(capsys, tmp_path):
    source, mine = log(tmp_path / "log.csv", ASKED), profile(capsys, tmp_path)
    found = told(capsys, "--log", source, "--part", "limits", "--profile", mine, "-o", tmp_path / "results")
    assert "a profile and the queries of 2 of 2 people" in found["facts"]["about"]
    assert {row["tree"] for row in found["limits"]} == {"random", "profiles named"}


def test_what_cannot_be_tried_is_refused_before_anything_is_written(capsys, tmp_path):
    good, results = log(tmp_path / "log.csv", ASKED), tmp_path / "results"
    (tmp_path / "nobody.csv").write_text("timestamp,user_query\n2024-03-05T09:00:00,jazz piano\n")
    (tmp_path / "posts.csv").write_text("post_id,author_id,timestamp,text\n1,a,2024-03-05T09:00:00,jazz piano\n")
    (tmp_path / "own.txt").write_text("a > b\na > c\n")
    few = log(tmp_path / "few.csv", {"one": ("menopause", "jazz")})
    blank = log(tmp_path / "blank.csv", {"one": (" ", " ")})
    mine = profile(capsys, tmp_path)
    for options, words in (
        (("--log", few), "nobody asked 6 different queries"),
        (("--log", few, "--profile", mine), "nobody asked 3 different queries"),
        (("--log", blank), "query"),
        (("--log", tmp_path / "nobody.csv"), "client_id"),
        (("--log", tmp_path / "posts.csv"), "nobody searched there"),
        (("--log", tmp_path / "absent.csv"), "absent.csv"),
        (("--log", good, "--profile", mine, "--taxonomy", tmp_path / "own.txt"), "built with another taxonomy"),
        (("--log", good, "--profile", good), "is no profile"),
        (("--log", good, "--part", "reranking"), "cannot be re-ranked"),
        (("--profile", mine), "--log"),
    ):
        assert words in " ".join(complaint(capsys, *options, "-o", results).split())
        assert not results.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--part", "mood"), "no part 'mood'"),
        (("--size", "huge"), "size"),
        (("--taxonomy", "nowhere.tsv"), "nowhere.tsv"),
    ],
)
def test_wrong_options_are_refused(capsys, tmp_path, options, words):
    assert words in complaint(capsys, *options, "-o", tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_the_help_has_examples(capsys):
    assert run(["evaluate", "ups", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "For example:" in shown
    assert "--taxonomy" in shown
    assert "--log" in shown
    assert "--profile" in shown


@pytest.mark.slow
def test_eavesdropping_says_how_long_it_takes_and_goes_on_where_it_was_stopped(capsys, tmp_path, monkeypatch):
    line = ["evaluate", "ups", "--size", "small", "--part", "eavesdropper", "-o", str(tmp_path / "results")]
    watch = eavesdropping._watch

    def until_the_fourth(scene, one):
        if one.number == 3:
            raise KeyboardInterrupt
        return watch(scene, one)

    with monkeypatch.context() as stopped:
        stopped.setattr(eavesdropping, "_watch", until_the_fourth)
        assert run(line) != 0
    assert "takes about 1 minute" in capsys.readouterr().err
    kept = sorted((tmp_path / "results").glob("watched-tree-*.parquet"))
    assert len(kept) == 3
    when = [each.stat().st_mtime_ns for each in kept]
    assert run(line) == 0
    assert [each.stat().st_mtime_ns for each in kept] == when
    rows = pq.read_table(tmp_path / "results" / "profiles-watched.parquet").to_pylist()
    plan = UpsExperiment()
    for people, many in (("small trees", plan.small_people), (PEOPLE, plan.watched)):
        assert {row["person"] for row in rows if row["people"] == people} == set(range(many))
    capsys.readouterr()
    assert run(line) == 0
    assert "takes about" not in capsys.readouterr().err

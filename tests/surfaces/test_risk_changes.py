"""What changes a ranking, and what it says of itself: new posts, forgetting, recipes, measures of third parties."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run
from aidos.world.size import World
from aidos.world.write import write_sample

OPERATOR = "--i-am-the-operator"
HERE = Path(__file__).resolve().parent
SECRET = "the xylophone therapist thinks the depression is back, antidepressants do nothing, i feel hopeless"
POSTS = [
    ("a1", "ann-4711", "2024-03-01T10:00:00", SECRET),
    ("a2", "ann-4711", "2024-03-12T10:00:00", "zeppelin rides and therapists, hopelessly depressed"),
    ("b1", "bob", "2024-03-01T10:00:00", "the lawn wants rain"),
    ("c1", "cem", "2024-03-02T10:00:00", "depression, a therapist and antidepressants"),
    ("d1", "dee", "2024-03-03T10:00:00", "the creditor wants the debt back, and the bailiff came"),
]
MEASURES = ("--measure", "lda-dt", "--measure", "bow", "--measure", "entropy")


def write_posts(path, posts):
    names = ("post_id", "author_id", "timestamp", "text")
    path.write_text("".join(json.dumps(dict(zip(names, post, strict=True))) + "\n" for post in posts))
    return path


def told(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run(["risk", *map(str, arguments), "--json", "--quiet"]) == code
    return json.loads(capsys.readouterr().out)


def shown(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run(["risk", *map(str, arguments)]) == code
    return capsys.readouterr()


def complaint(capsys, *arguments):
    said = shown(capsys, *arguments, code=2)
    assert said.out == ""
    return said.err


@pytest.fixture
def ranks(capsys, tmp_path):
    path = write_posts(tmp_path / "posts.jsonl", POSTS)
    asked = ("--topic", "depression", "--topic", "debt", *MEASURES, "-o", tmp_path / "ranks", OPERATOR)
    told(capsys, "rank", path, *asked)
    return tmp_path / "ranks"


def table(directory):
    rows = pq.read_table(directory / "ranks.parquet").to_pylist()
    return {(row["person"], row["topic"], row["measure"].partition(":")[0]): row for row in rows}


def ranked_anew(capsys, home, posts):
    directory = home / "anew"
    path = write_posts(home / "anew.jsonl", posts)
    told(capsys, "rank", path, "--topic", "depression", "--topic", "debt", *MEASURES, "-o", directory, OPERATOR)
    return table(directory)


def test_a_post_that_comes_again_is_not_counted_again(capsys, ranks, tmp_path):
    new = write_posts(tmp_path / "new.jsonl", [POSTS[3], ("c2", "cem", "2024-04-02T10:00:00", "hopeless again")])
    assert told(capsys, "add", new, "--in", ranks)["already_counted"] == 1
    before = table(ranks)
    again = told(capsys, "add", new, "--in", ranks)
    assert (again["entries"], again["already_counted"], again["people_ranked"]) == (0, 2, 4)
    assert table(ranks) == before
    assert told(capsys, "person", "cem", "--in", ranks)["entries"] == 2
    changed = write_posts(tmp_path / "changed.jsonl", [("c1", "cem", "2024-03-02T10:00:00", "all is well")])
    assert "the text is not the same" in complaint(capsys, "add", changed, "--in", ranks)
    assert table(ranks) == before


def bytes_of(directory):
    """All there is: files as they are, and Parquet files as they read."""
    for path in sorted(each for each in directory.rglob("*") if each.is_file()):
        yield path.read_bytes()
        if path.suffix == ".parquet":
            yield json.dumps(pq.read_table(path).to_pylist(), default=str).encode()


def test_who_is_forgotten_leaves_nothing_behind_and_others_move_up(capsys, ranks, tmp_path):
    new = write_posts(tmp_path / "new.jsonl", [("a3", "ann-4711", "2024-04-02T10:00:00", "zeppelin again")])
    told(capsys, "add", new, "--in", ranks)
    left = (b"ann-4711", b"xylophone", b"zeppelin")
    assert all(any(word in part for part in bytes_of(ranks)) for word in left)
    assert any(b"ann-4711" in path.read_bytes() for path in (ranks / "state").iterdir())
    old = [path.open("rb") for path in [*(ranks / "entries").iterdir(), ranks / "ranks.parquet"]]
    found = told(capsys, "forget", "--person", "ann-4711", "--in", ranks)
    assert (found["entries_forgotten"], found["people_ranked"]) == (3, 3)
    assert not any(word in part for part in bytes_of(ranks) for word in left)
    for file in old:
        with file:
            assert set(file.read()) == {0}
    assert table(ranks) == ranked_anew(capsys, tmp_path, POSTS[2:])
    assert "nobody has that name" in complaint(capsys, "person", "ann-4711", "--in", ranks)
    assert "nobody has that name" in complaint(capsys, "forget", "--person", "ann-4711", "--in", ranks)
    for path in ranks.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_one_post_is_forgotten_and_its_person_stays(capsys, ranks, tmp_path):
    found = told(capsys, "forget", "--post", "a1", "--in", ranks)
    assert (found["entries_forgotten"], found["people_ranked"]) == (1, 4)
    assert not any(b"xylophone" in part for part in bytes_of(ranks))
    assert table(ranks) == ranked_anew(capsys, tmp_path, POSTS[1:])
    mine = told(capsys, "person", "ann-4711", "--in", ranks)
    assert {each["post"] for rank in mine["ranks"] for each in rank["posts"]} <= {"a2"}
    assert "no entry has that name" in complaint(capsys, "forget", "--post", "a1", "--in", ranks)
    assert "no entry has that name" in complaint(capsys, "forget", "--post", "b1", "--person", "cem", "--in", ranks)
    assert told(capsys, "forget", "--post", "a2", "--in", ranks)["people_ranked"] == 3
    assert "nobody has that name" in complaint(capsys, "person", "ann-4711", "--in", ranks)
    assert "missing" in complaint(capsys, "forget", "--in", ranks)


def test_a_run_that_was_cut_off_while_forgetting_can_be_repeated(capsys, ranks, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("aidos.rooms.risk.directory.erase_rows", lambda *_: 1 / 0)
        assert run(["risk", "forget", "--person", "ann-4711", "--in", str(ranks)]) == 4
    assert any(b"xylophone" in part for part in bytes_of(ranks))
    assert told(capsys, "forget", "--person", "ann-4711", "--in", ranks)["entries_forgotten"] == 2
    assert not any(b"xylophone" in part for part in bytes_of(ranks))


def test_the_last_one_may_be_forgotten_and_others_may_come(capsys, tmp_path):
    path = write_posts(tmp_path / "posts.jsonl", POSTS[:1])
    told(capsys, "rank", path, "--topic", "depression", "-o", tmp_path / "r", OPERATOR)
    assert told(capsys, "forget", "--person", "ann-4711", "--in", tmp_path / "r")["people_ranked"] == 0
    assert pq.read_table(tmp_path / "r" / "ranks.parquet").num_rows == 0
    more = write_posts(tmp_path / "more.jsonl", POSTS[2:])
    assert told(capsys, "add", more, "--in", tmp_path / "r")["people_ranked"] == 3


def test_a_query_of_a_log_is_forgotten_with_its_person_named(capsys, tmp_path):
    rows = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    rows += [f"{who}\tdepression help\t2006-03-01 10:00:00\t{at}\thttp://x.example" for who in (1, 2) for at in (1, 3)]
    (tmp_path / "log.tsv").write_text("\n".join([*rows, "1\tlawn\t2006-03-02 10:00:00\t\t"]) + "\n")
    asked = ("rank", tmp_path / "log.tsv", "--topic", "depression", "-o", tmp_path / "r", OPERATOR)
    assert told(capsys, *asked)["entries"] == 3
    assert told(capsys, "add", tmp_path / "log.tsv", "--in", tmp_path / "r")["already_counted"] == 3
    asked = ("forget", "--post", "2006-03-01 10:00:00", "--in", tmp_path / "r")
    assert "2 people have an entry of that name" in complaint(capsys, *asked)
    found = told(capsys, *asked, "--person", "2")
    assert (found["entries_forgotten"], found["people_ranked"]) == (1, 1)


def test_clicks_are_no_entries(capsys, tmp_path):
    """The layout without names of queries has nearly as many entries as the one with names, and not as it has rows."""
    found = {}
    for name in ("log.tsv", "log.parquet"):
        write_sample("log", World(size=60), tmp_path / name)
        asked = ("rank", tmp_path / name, "--topic", "depression", "-o", tmp_path / f"r-{name}", OPERATOR)
        found[name] = told(capsys, *asked)["entries"]
    rows = (tmp_path / "log.tsv").read_text().count("\n") - 1
    assert abs(found["log.tsv"] - found["log.parquet"]) < 0.03 * found["log.parquet"] < 0.1 * rows
    assert found["log.tsv"] < 0.95 * rows


def test_a_recipe_makes_the_ranking_again(capsys, ranks, tmp_path):
    path, recipe = tmp_path / "posts.jsonl", ranks / "recipe.toml"
    told(capsys, "rank", path, "--recipe", recipe, "-o", tmp_path / "again", OPERATOR)
    assert table(tmp_path / "again") == table(ranks)
    said = json.loads((ranks / "MANIFEST.json").read_text())
    assert said["recipe"]["mechanism"] == "risk-ranking"
    assert {each["measure"].partition(":")[0] for each in said["measures"]} == {"lda-dt", "bow", "entropy"}
    assert all("kept up to date" in each["with_new_posts"] for each in said["measures"])
    asked = ("rank", path, "-o", tmp_path / "r", OPERATOR, "--recipe")
    assert "takes the place" in complaint(capsys, *asked, recipe, "--topic", "debt")
    (tmp_path / "one.toml").write_text(
        'mechanism = "topical-risk"\n[parameters]\nspace = "lda"\ndomain = true\nbreadth = 0.2\n'
    )
    assert told(capsys, *asked, tmp_path / "one.toml")["measures"] == ["lda-d:breadth=0.2"]
    for text, words in (
        ('mechanism = "zealous"\n', "ranks nobody"),
        ('mechanism = "risk-rankin"\n', "no mechanism called risk-rankin"),
        ('mechanism = "risk-ranking"\n[parameters]\nmeasures = ["lda-x"]\n', "no risk measure is called 'lda-x'"),
        ('mechanism = "risk-ranking"\n[parameters]\nmeasure = "lda"\n', "measure: no such parameter"),
    ):
        (tmp_path / "wrong.toml").write_text(text)
        shutil.rmtree(tmp_path / "r", ignore_errors=True)
        assert words in complaint(capsys, *asked, tmp_path / "wrong.toml")


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A package with a measure, as an installer would leave it."""
    place = tmp_path / "site"
    (place / "loudness-1.0.dist-info").mkdir(parents=True)
    shutil.copy(HERE.parent / "rooms" / "risk" / "third_party_risk.py", place / "loudness_measure.py")
    (place / "loudness-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: loudness\nVersion: 1.0\n")
    (place / "loudness-1.0.dist-info" / "entry_points.txt").write_text(
        "[aidos.mechanisms]\nloudness = loudness_measure:Loudness\n"
    )
    monkeypatch.syspath_prepend(str(place))
    yield place
    sys.modules.pop("loudness_measure", None)


@pytest.mark.usefixtures("installed")
def test_a_measure_of_a_third_party_ranks_and_follows_new_posts(capsys, tmp_path):
    path, directory = write_posts(tmp_path / "posts.jsonl", POSTS), tmp_path / "r"
    asked = ("rank", path, "--topic", "depression", "--measure", "loudness:factor=2", "-o", directory, OPERATOR)
    first = told(capsys, *asked)["first"][0]
    assert (first["person"], first["risk"], first["rank"]) == ("ann-4711", 4.0, 1)
    assert first["interval"]["low"] == 1
    kept = json.loads((directory / "MANIFEST.json").read_text())["measures"][0]
    assert "computed again from all entries" in kept["with_new_posts"]
    more = write_posts(tmp_path / "more.jsonl", [(f"b{at}", "bob", f"2024-05-0{at}T10:00:00", "rain") for at in (2, 3)])
    assert "computed again from all entries: loudness" in shown(capsys, "add", more, "--in", directory).err
    rows = table(directory)
    assert rows["bob", "depression", "loudness"]["risk"] == 6.0
    assert rows["bob", "depression", "loudness"]["rank"] == 1
    mine = told(capsys, "person", "bob", "--in", directory, "-o", tmp_path / "page.html")["ranks"][0]
    assert (mine["rank"], mine["interval"], mine["posts"]) == (1, None, [])
    assert "How much somebody writes" in (tmp_path / "page.html").read_text()
    assert "cannot say what a draft" in complaint(capsys, "person", "bob", "--in", directory, "--draft", "x")
    told(capsys, "forget", "--person", "bob", "--in", directory)
    assert table(directory)["ann-4711", "depression", "loudness"]["rank"] == 1
    (tmp_path / "loud.toml").write_text('mechanism = "loudness"\n[parameters]\nfactor = 3\n')
    asked = ("rank", path, "--recipe", tmp_path / "loud.toml", "-o", tmp_path / "r2", OPERATOR)
    assert told(capsys, *asked)["measures"] == ["loudness:factor=3.0"]
    mine = write_posts(tmp_path / "mine.jsonl", POSTS[:2])
    assert "at home" in complaint(capsys, "local", mine, "--measure", "loudness")


def test_without_its_package_a_measure_is_missed_by_name(capsys, installed, tmp_path, monkeypatch):
    path = write_posts(tmp_path / "posts.jsonl", POSTS)
    asked = ("--topic", "debt", "--measure", "loudness", "--measure", "lda", "-o", tmp_path / "r", OPERATOR)
    assert len(told(capsys, "rank", path, *asked)["measures"]) == 2
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(installed)])
    said = complaint(capsys, "person", "bob", "--in", tmp_path / "r")
    assert "the measure loudness, which is not there any more" in said


def test_nobody_is_found_for_what_nobody_wrote_about(capsys, tmp_path):
    path = write_posts(
        tmp_path / "posts.jsonl", POSTS[2:3] * 1 + [("e1", "eve", "2024-01-01T00:00:00", "sunny weather")]
    )
    asked = ("rank", path, "--topic", "depression", "-o", tmp_path / "r", OPERATOR)
    said = shown(capsys, *asked)
    assert "no evidence: nobody is near any of these topics" in said.out
    assert "no evidence by lda-dt: nobody is near depression" in said.err
    assert "bob" not in said.out
    rows = table(tmp_path / "r")
    assert {row["rank"] for row in rows.values()} == {1, 2} or {row["rank"] for row in rows.values()} == {1}
    assert not any(row["evidence"] for row in rows.values())
    page = tmp_path / "page.html"
    said = shown(capsys, "person", "bob", "--in", tmp_path / "r", "--alert", "1", "--draft", "nice day", "-o", page)
    assert "no evidence (" in said.out
    assert "1 entry, ranked among 2 people" in said.out
    assert "the draft is near none of these topics" in said.out
    assert "threshold" not in said.err
    assert "Nothing of yours is near" in page.read_text()
    assert "1 post or query, ranked among 2 people" in page.read_text()


def test_words_are_those_that_she_wrote_and_never_stems(capsys, ranks, tmp_path):
    said = shown(capsys, "person", "ann-4711", "--in", ranks, "--topic", "depression", "-o", tmp_path / "page.html")
    words = set(said.out.split())
    assert {"hopeless", "antidepressants"} & words
    assert not {"antidepress", "hopelessli", "therapi"} & words
    assert "antidepress," not in (tmp_path / "page.html").read_text()


def test_many_measures_and_topics_get_a_line_each_measure(capsys, tmp_path):
    path = write_posts(tmp_path / "posts.jsonl", POSTS)
    said = shown(capsys, "rank", path, "--measure", "all", "-o", tmp_path / "r", OPERATOR).out
    assert len(said.splitlines()) < 30
    assert "what each measure found" in said
    rows = pq.read_table(tmp_path / "r" / "ranks.parquet")
    assert len(set(rows["measure"].to_pylist())) == 10
    entropy = next(line for line in said.splitlines() if line.startswith("entropy"))
    assert " 0 " not in entropy
    shutil.rmtree(tmp_path / "r")
    assert (
        "who would be found first"
        in shown(capsys, "rank", path, "--measure", "all", "--top", "1", "-o", tmp_path / "r", OPERATOR).out
    )


def test_small_risks_are_not_rounded_to_nothing(capsys, tmp_path):
    posts = [(f"p{at}", f"m{at}", "2024-01-01T00:00:00", "debt" if at < 150 else "rain") for at in range(400)]
    path = write_posts(tmp_path / "posts.jsonl", posts)
    asked = ("rank", path, "--topic", "debt", "--measure", "entropy", "--top", "1", "-o", tmp_path / "r", OPERATOR)
    risk = float(shown(capsys, *asked).out.splitlines()[-1].partition(" m0 ")[2].split()[0])
    true = next(row["risk"] for row in table(tmp_path / "r").values() if row["rank"] == 1)
    assert 0 < true < 5e-5
    assert risk == pytest.approx(true, rel=1e-3)


def test_topics_are_written_without_being_listed(capsys, tmp_path):
    said = shown(capsys, "topics", "--export", tmp_path / "topics.tsv")
    assert said.out.split() == ["file", str(tmp_path / "topics.tsv"), "topics", "111"]
    assert said.err == ""


def test_the_least_of_a_table_is_more_than_that_of_an_overview(capsys, tmp_path):
    posts = [(f"p{at}", f"m{at}", "2024-01-01T00:00:00", "debt") for at in range(45)]
    path = write_posts(tmp_path / "posts.jsonl", posts)
    told(capsys, "rank", path, "--topic", "debt", "-o", tmp_path / "r", OPERATOR)
    where = ("--in", tmp_path / "r")
    said = complaint(capsys, "audit", *where, "--least", "10", "--quantiles", tmp_path / "q.json")
    assert "--least must be at least 20 with --quantiles" in said
    assert told(capsys, "audit", *where, "--least", "10")["people"] == 40
    assert "--least" in complaint(capsys, "audit", *where, "--least", "50")


@pytest.mark.parametrize(
    "command",
    [
        "risk topics",
        "risk local x.txt",
        "risk person x --in r",
        f"risk rank x.csv -o r {OPERATOR}",
        "evaluate risk -o r",
        "evaluate risk --posts x.csv --sheet --topic debt -o sheet.csv",
    ],
)
def test_a_missing_compiler_is_named_by_the_extra_of_this_room(command, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['numba'] = None\n")
    asked = [sys.executable, "-m", "aidos", *command.split()]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(asked, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'pip install "aidos-search[risk]"' in done.stderr


def test_a_compiler_that_does_not_load_is_told_too(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('not here')\n")
    asked = [sys.executable, "-m", "aidos", "evaluate", "risk", "-o", "r"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(asked, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "aidos-search[" in done.stderr


def test_the_remark_about_compiling_is_made_only_if_it_is_so(monkeypatch, capsys):
    from types import ModuleType, SimpleNamespace

    from aidos.jobs.desk import Desk
    from aidos.rooms.risk.jobs import options
    from aidos.surfaces.console import tell

    module = ModuleType("aidos.made.kernels")
    module.kernel = SimpleNamespace(stats=SimpleNamespace(cache_misses={}))
    monkeypatch.setattr(sys, "modules", {"aidos.made.kernels": module})
    options._remark(Desk(remark=tell))
    assert capsys.readouterr().err == ""
    module.kernel.stats.cache_misses["signature"] = 1
    options._remark(Desk(remark=tell))
    assert "compiles" in capsys.readouterr().err


def test_percentiles_of_the_page_are_of_evidence_alone(capsys, ranks):
    found = told(capsys, "person", "dee", "--in", ranks)["ranks"]
    near = {(each["topic"], each["measure"].partition(":")[0]): each["evidence"] for each in found}
    assert near["debt", "bow"]
    assert not near["depression", "bow"]
    order = [each["evidence"] for each in found if each["measure"] == "bow"]
    assert order == sorted(order, reverse=True)
    assert np.isfinite([each["nearness"] for each in found]).all()

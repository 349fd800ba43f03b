"""`aidos expose` as a person uses it."""

import io
import json
import os
import shlex
import shutil
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run
from aidos.world.size import World
from aidos.world.write import write_sample


@pytest.fixture(scope="module")
def community(tmp_path_factory):
    """The open community of a small world, computed; its posts, and those of the anonymous one."""
    home = tmp_path_factory.mktemp("community")
    write_sample("posts", World(size=800), home / "all.parquet")
    posts = pq.read_table(home / "all.parquet")
    for name in ("open", "anonymous"):
        pq.write_table(posts.filter(pc.equal(posts["community"], name)), home / f"{name}.parquet")
    assert run(["expose", "compute", str(home / "open.parquet"), "-o", str(home / "exposure"), "--quiet"]) == 0
    return home


@pytest.fixture
def where(community):
    return ("--in", str(community / "exposure"))


def told(capsys, *arguments):
    assert run(["expose", *map(str, arguments), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run(["expose", *map(str, arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def busiest(community):
    authors = pq.read_table(community / "open.parquet").column("author_id").value_counts().to_pylist()
    return max(authors, key=lambda each: (each["counts"], each["values"]))["values"]


def test_the_directory_is_for_its_owner_only(community):
    for path in [community / "exposure", *(community / "exposure").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_member_gets_a_private_page_with_her_queries_and_what_would_help(capsys, community, where, tmp_path):
    member, page = busiest(community), tmp_path / "page.html"
    found = told(capsys, "member", member, *where, "--top", "5", "-o", page)
    assert found["member"] == member
    assert len(found["critical"]) == 5
    first = found["critical"][0]
    assert 1 <= first["rank"] <= 10
    assert first["reasons"]
    assert first["helps"][-1].startswith("Deleting the post")
    assert any(mark for _, mark in first["quotation"])
    assert page.stat().st_mode & 0o077 == 0
    text = page.read_text()
    assert "Finding: not for release" in text
    assert "<mark>" in text
    assert f'<h3 id="part-2-title" dir="auto">{first["query"]}</h3>' in text


def test_what_a_query_returns_agrees_with_what_its_members_are_told(capsys, community, where):
    member = busiest(community)
    first = told(capsys, "member", member, *where, "--top", "1")["critical"][0]
    results = told(capsys, "query", first["query"], *where)["results"]
    assert any(row["member"] == member and row["rank"] == first["rank"] for row in results)


def test_raw_rows_hold_what_cleaning_leaves_out(capsys, community, where):
    member = busiest(community)
    cleaned = told(capsys, "member", member, *where)
    raw = told(capsys, "member", member, *where, "--raw", "--top", "2000")
    assert cleaned["dropped"]
    assert not raw["dropped"]
    assert any(not each["whole"] for each in raw["critical"])


def test_a_draft_is_told_before_it_is_posted_and_rightly(capsys, community, where, tmp_path):
    directory = tmp_path / "copy"
    os.system(f"cp -r {community / 'exposure'} {directory}")
    text = "qwertyxyz debt counselling"
    draft = told(capsys, "draft", text, "--as", busiest(community), "--in", directory, "--top", "100")
    named = {row["query"]: row["rank"] for row in draft["most_critical"]}
    new = tmp_path / "new.jsonl"
    post = {"post_id": "new-1", "author_id": busiest(community), "timestamp": "2026-01-01T00:00:00", "text": text}
    new.write_text(json.dumps(post) + "\n")
    change = told(capsys, "add", new, "--in", directory)
    assert change["posts"] == 1
    assert change["exposures_after"] > 0
    for query, rank in list(named.items())[:5]:
        results = told(capsys, "query", query, "--in", directory)["results"]
        assert {"post": "new-1", "rank": rank}.items() <= next(r for r in results if r["post"] == "new-1").items()
    assert told(capsys, "delete", "new-1", "--in", directory)["posts"] == 1
    assert told(capsys, "query", "qwertyxyz", "--in", directory)["results"] == []


def test_a_draft_may_come_from_the_standard_input(capsys, where, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("debt counselling"))
    assert told(capsys, "draft", "-", *where)["queries"] > 0


def test_the_audit_names_nobody(capsys, community, where, tmp_path):
    page = tmp_path / "audit.html"
    found = told(capsys, "audit", *where, "-o", page)
    assert found["members"] % 20 == 0
    assert all(kind["members"] is None or kind["members"] >= 20 for kind in found["kinds"])
    assert "No guarantee" in found["guarantee"]
    posts = pq.read_table(community / "open.parquet")
    text = page.read_text()
    assert not any(str(author) in text for author in set(posts["author_id"].to_pylist()))
    assert not any(str(name) in text for name in posts["post_id"].to_pylist())


@pytest.mark.slow
def test_training_on_signals_gives_a_model_without_words_that_ranks(capsys, community, where, tmp_path):
    posts = pq.read_table(community / "open.parquet")
    table = pa.table({"post_id": posts["post_id"], "deleted": posts["deleted_later"]})
    pq.write_table(table, tmp_path / "deleted.parquet")
    model = tmp_path / "model.json"
    signals = ("--deletions", tmp_path / "deleted.parquet", "--anonymous", community / "anonymous.parquet")
    found = told(capsys, "train", *where, *signals, "-o", model)
    by_name = {line["ranker"]: line["agreement"] for line in found["agreement"]}
    assert by_name["learned"] > 0.6
    assert model.read_text().count('"feature"') == len(by_name) - 1
    member = busiest(community)
    ranked = told(capsys, "member", member, *where, "--model", model, "--top", "3")
    assert "of your own" in ranked["order"]


@pytest.mark.slow
def test_trees_can_rank_as_well(capsys, community, where, tmp_path):
    model = tmp_path / "trees.json"
    found = told(capsys, "train", *where, "--target", "topics", "--learner", "lambdarank", "-o", model)
    assert found["agreement"][0]["agreement"] > 0.6
    assert told(capsys, "member", busiest(community), *where, "--model", model, "--top", "3")["critical"]


@pytest.mark.slow
def test_topics_can_be_the_target_where_there_are_no_signals(capsys, where, tmp_path):
    found = told(capsys, "train", *where, "--target", "topics", "-o", tmp_path / "model.json")
    assert "topical_sensitivity" not in found["weights"]  # it would be learned by heart
    assert found["agreement"][0]["agreement"] > 0.6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("member", "nobody"), "no member of that name"),
        (("query", "one two three"), "one word or two"),
        (("query", "..."), "one word or two"),
        (("train", "-o", "x.json"), "signals are missing"),
        (("train", "--target", "luck", "-o", "x.json"), "signals or topics"),
        (("delete",), "no post is named"),
        (("delete", "--file", "missing.txt"), "there is no file"),
        (("member", "nobody", "--top", "0"), "--top must be at least 1"),
        (("delete", "no-such-post"), "1"),
        (("member", "nobody", "--model", "missing.json"), "there is no file"),
        (("member", "nobody", "--model", "missing.json", "--learned"), "--model or --learned"),
        (("draft", "tea", "--model", "missing.json", "--learned"), "--model or --learned"),
    ],
)
def test_wrong_questions_get_a_clear_answer(capsys, where, arguments, words):
    assert words in complaint(capsys, *arguments, *where)


def test_directories_that_are_none_are_refused(capsys, tmp_path):
    assert "no exposure directory" in complaint(capsys, "member", "x", "--in", tmp_path / "nothing")
    assert "exposure.json" in complaint(capsys, "member", "x", "--in", tmp_path)


def test_results_of_another_collection_or_other_settings_are_not_mixed(capsys, community):
    target = str(community / "exposure")
    posts = str(community / "open.parquet")
    assert "another k" in complaint(capsys, "compute", posts, "-k", "5", "-o", target)
    assert "other posts" in complaint(capsys, "compute", str(community / "anonymous.parquet"), "-o", target)


def test_a_query_log_is_no_community(capsys, tmp_path):
    write_sample("log", World(size="tiny"), tmp_path / "log.parquet")
    told_so = complaint(capsys, "compute", tmp_path / "log.parquet", "-o", tmp_path / "e")
    assert "posts" in told_so
    assert not (tmp_path / "e").exists() or not list((tmp_path / "e").iterdir())


@pytest.mark.parametrize("column", ["author_id", "timestamp"])
def test_posts_without_author_or_time_are_refused_with_their_lines(capsys, tmp_path, column):
    post = {"post_id": "a", "author_id": "b", "timestamp": "2024-01-01T00:00:00", "text": "secret words"}
    lines = [json.dumps(post), json.dumps({**post, "post_id": "c", column: None})]
    path = Path(tmp_path / "posts.jsonl")
    path.write_text("\n".join(lines) + "\n")
    said = complaint(capsys, "compute", path, "-o", tmp_path / "e")
    assert column in said
    assert "secret" not in said
    assert not (tmp_path / "e").exists()


def test_one_rule_says_what_is_no_post_to_check_compute_and_add(capsys, tmp_path):
    good = [made_line(f"p{at}", f"word{at} shared") for at in range(6)]
    posts, more = tmp_path / "posts.jsonl", tmp_path / "more.jsonl"
    posts.write_text("\n".join([*good, made_line("p1", "again"), made_line("b", " "), made_line("h", "a <b>tag</b>")]))
    assert run(["check", str(posts)]) == 2
    assert "--skip-bad-rows" in capsys.readouterr().out
    for word in ("post_id", "blank"):
        assert word in complaint(capsys, "compute", posts, "-o", tmp_path / "e")
    found = told(capsys, "compute", posts, "-o", tmp_path / "e", "--skip-bad-rows")
    assert (found["posts"], found["words"]) == (7, 9)
    more.write_text("\n".join([*good, made_line("n", "entirely &amp; new"), made_line("b", "")]))
    assert "blank" in complaint(capsys, "add", more, "--in", tmp_path / "e")
    assert run(["expose", "add", str(more), "--in", str(tmp_path / "e"), "--skip-bad-rows"]) == 0
    shown = capsys.readouterr()
    assert "6 posts were left out: their post_id is there already" in shown.err
    assert told(capsys, "query", "amp", "--in", tmp_path / "e")["unknown_words"] == 1
    assert "the draft is blank" in complaint(capsys, "draft", "<br>", "--in", tmp_path / "e")


def test_members_whom_a_tie_alone_leaves_out_are_told(capsys, tmp_path):
    posts = tmp_path / "posts.jsonl"
    posts.write_text("\n".join(made_line(f"p{at:03}", "same three words", f"m{at:03}") for at in range(200)))
    where = ("--in", tmp_path / "e")
    told(capsys, "compute", posts, "-o", tmp_path / "e")
    found = told(capsys, "member", "m150", *where)
    assert (found["queries"], found["exposures"]) == (0, 0)
    tied = found["tied_out"]
    assert (tied["queries"], tied["posts"], tied["posts_looked_at"], tied["left_out"]) == (6, 1, 1, 0)
    assert set(tied["examples"]) <= {"same", "three", "words", "same three", "same words", "three words"}
    assert run(["expose", "member", "m150", *map(str, where), "-o", str(tmp_path / "page.html"), "--quiet"]) == 0
    assert "6 queries more would return 1 post" in " ".join(capsys.readouterr().out.split())
    assert "Exposed if ties fall otherwise" in (tmp_path / "page.html").read_text()
    assert told(capsys, "query", "same words", *where)["tied_out"] == 190
    assert told(capsys, "member", "m005", *where)["tied_out"]["queries"] == 0


def made_line(name, text, author="ann"):
    return json.dumps({"post_id": name, "author_id": author, "timestamp": "2024-01-01", "text": text})


def test_long_posts_are_cut_counted_and_told(capsys, tmp_path):
    words = " ".join(f"w{number % 997}" for number in range(100_000))
    posts = [
        {"post_id": f"p{at}", "author_id": f"a{at}", "timestamp": "2024-01-01T00:00:00", "text": text}
        for at, text in enumerate([words, "w1", "w1 w2"])
    ]
    path = tmp_path / "posts.jsonl"
    path.write_text("\n".join(map(json.dumps, posts)) + "\n")
    assert run(["expose", "compute", str(path), "-o", str(tmp_path / "e"), "--longest-post", "50", "-k", "100"]) == 0
    assert "1 posts are longer than 50 words" in capsys.readouterr().err
    assert told(capsys, "compute", path, "-o", tmp_path / "e", "--longest-post", "50", "-k", "100")["cut_posts"] == 1


def test_bad_settings_are_refused_before_anything_is_read(capsys, tmp_path):
    for option, value, words in [
        ("-k", "0", "--results must be at least 1, got 0"),
        ("--ties", "random", "newest"),
        ("--scorer", "x", "scorer"),
    ]:
        assert words in complaint(capsys, "compute", "missing.parquet", option, value, "-o", tmp_path / "e")


def test_a_recipe_says_how_the_search_ranks(capsys, tmp_path):
    posts = tmp_path / "posts.jsonl"
    post = {"post_id": "a", "author_id": "b", "timestamp": "2024-01-01T00:00:00", "text": "two words"}
    posts.write_text(json.dumps(post) + "\n")
    recipe = tmp_path / "search.toml"
    recipe.write_text('mechanism = "search-exposure"\n[parameters]\nk = 3\nsemantics = "and"\n')
    found = told(capsys, "compute", posts, "--recipe", recipe, "-o", tmp_path / "e")
    assert (found["settings"]["k"], found["settings"]["semantics"]) == (3, "and")
    assert "takes the place" in complaint(capsys, "compute", posts, "--recipe", recipe, "-k", "2", "-o", tmp_path / "f")
    recipe.write_text('mechanism = "zealous"\n')
    assert "recipe for zealous" in complaint(capsys, "compute", posts, "--recipe", recipe, "-o", tmp_path / "f")


def test_a_page_names_the_command_that_gives_it_again(capsys, community, tmp_path):
    directory = tmp_path / "ex posure"
    shutil.copytree(community / "exposure", directory)
    asked = ["expose", "member", busiest(community), "--in", str(directory), "--raw", "--top", "1"]
    found = told(capsys, *asked[1:])
    assert shlex.split(found["command"])[:-2] == ["aidos", *asked]
    assert run(shlex.split(found["command"])[1:]) == 0
    assert json.loads(capsys.readouterr().out)["critical"] == found["critical"]


def test_lists_are_ordered_by_sensitivity_unless_the_learned_model_is_asked_for(capsys, community, where):
    member = busiest(community)
    by_default = told(capsys, "member", member, *where, "--top", "3")
    learned = told(capsys, "member", member, *where, "--top", "3", "--learned")
    assert "sensitivity of topics" in by_default["order"]
    assert "trained on the sample world" in learned["order"]
    assert by_default["queries"] == learned["queries"]
    reasons = [why for row in by_default["critical"] for why in row["reasons"]]
    assert reasons
    assert all("is about" in why or "may be about" in why for why in reasons)

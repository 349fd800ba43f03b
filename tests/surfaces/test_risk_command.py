"""`aidos risk` as a person uses it."""

import io
import json
import shutil
import stat
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from aidos.model.annotations import read_annotations
from aidos.model.sensitive import TopicSet, read_topics
from aidos.surfaces.cli import run
from aidos.world.size import World
from aidos.world.write import write_sample

OPERATOR = "--i-am-the-operator"
MEASURES = ("--measure", "lda-dt", "--measure", "bow", "--measure", "entropy")
TOPICS = ("--topic", "depression", "--topic", "debt")
WORRIED = "my therapist thinks the depression is back, the antidepressants do nothing, i feel hopeless and numb"


@pytest.fixture(scope="module")
def community(tmp_path_factory):
    """The open community of a small world, ranked for two topics by three measures."""
    home = tmp_path_factory.mktemp("community")
    write_sample("posts", World(size=800), home / "all.parquet")
    posts = pq.read_table(home / "all.parquet")
    pq.write_table(posts.filter(pc.equal(posts["community"], "open")), home / "posts.parquet")
    asked = (str(home / "posts.parquet"), *TOPICS, *MEASURES, "-o", str(home / "ranks"), OPERATOR, "--quiet")
    assert run(["risk", "rank", *asked]) == 0
    return home


@pytest.fixture
def where(community):
    return ("--in", str(community / "ranks"))


def told(capsys, *arguments, code=0):
    assert run(["risk", *map(str, arguments), "--json", "--quiet"]) == code
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run([*map(str, arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def ranks_of(directory):
    return pq.read_table(directory / "ranks.parquet").to_pylist()


def placed(directory, topic="depression", measure="lda-dt"):
    """People by rank."""
    rows = [row for row in ranks_of(directory) if row["topic"] == topic and row["measure"].partition(":")[0] == measure]
    return sorted(rows, key=lambda row: (row["rank"], row["person"]))


def write_posts(path, *posts):
    path.write_text("".join(json.dumps(post) + "\n" for post in posts))
    return path


def post(name, author, text, when="2024-03-01T10:00:00"):
    return {"post_id": name, "author_id": author, "timestamp": when, "text": text}


def test_ranking_others_is_for_operators_and_says_why(capsys, community, tmp_path):
    said = complaint(capsys, "risk", "rank", community / "posts.parquet", "-o", tmp_path / "r")
    assert "ranks other people" in said
    assert OPERATOR in said
    assert "aidos risk local" in said
    assert not (tmp_path / "r").exists()


def test_the_directory_is_for_its_owner_only(community):
    for path in [community / "ranks", *(community / "ranks").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_everybody_has_a_rank_and_ties_share_it(community):
    rows = placed(community / "ranks", measure="bow")
    authors = set(pq.read_table(community / "posts.parquet")["author_id"].to_pylist())
    assert {row["person"] for row in rows} == authors
    risks = np.array([row["risk"] for row in rows])
    for row in rows:
        assert row["rank"] == 1 + int((risks > row["risk"]).sum())
        assert row["rank_worst"] == int((risks >= row["risk"]).sum())
        assert row["rank_mean"] == (row["rank"] + row["rank_worst"]) / 2
    assert any(row["rank"] < row["rank_worst"] for row in rows)


def test_a_person_gets_a_private_page_with_her_rank_and_the_posts_behind_it(capsys, community, where, tmp_path):
    first, page = placed(community / "ranks")[0], tmp_path / "page.html"
    found = told(capsys, "person", first["person"], *where, "--topic", "depression", "-o", page)
    by_measure = {each["measure"].partition(":")[0]: each for each in found["ranks"]}
    assert set(by_measure) == {"lda-dt", "bow", "entropy"}
    own = by_measure["lda-dt"]
    assert (own["rank"], own["percentile"]) == (first["rank"], first["percentile"])
    assert own["interval"][0] <= own["rank"] <= own["interval"][1]
    assert own["history"][-1]["percentile"] == own["percentile"]
    posts = pq.read_table(community / "posts.parquet")
    hers = set(posts.filter(pc.equal(posts["author_id"], first["person"]))["post_id"].to_pylist())
    assert own["posts"]
    assert {each["post"] for each in own["posts"]} <= hers
    assert page.stat().st_mode & 0o077 == 0
    text = page.read_text()
    assert "Finding: not for release" in text
    assert "<mark>" in text
    assert "Over time" in text
    assert "does not say that you are afflicted" in text


def test_a_draft_is_told_before_it_is_posted_and_rightly(capsys, community, tmp_path):
    directory, person = tmp_path / "copy", placed(community / "ranks")[30]["person"]
    shutil.copytree(community / "ranks", directory)
    where = ("--in", directory)
    found = told(capsys, "person", person, *where, "--draft", WORRIED, "--topic", "depression")
    effects = {each["measure"]: each for each in found["draft"]}
    before = {each["measure"]: each for each in found["ranks"]}
    assert effects["bow"]["after"] < effects["bow"]["before"] == before["bow"]["rank"]
    new = write_posts(tmp_path / "new.jsonl", post("new-1", person, WORRIED, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}"))
    change = told(capsys, "add", new, *where)
    assert (change["entries"], change["new_people"]) == (1, 0)
    after = told(capsys, "person", person, *where, "--topic", "depression")
    assert after["entries"] == found["entries"] + 1
    for each in after["ranks"]:
        assert each["rank"] == effects[each["measure"]]["after"]
    assert any(one["post"] == "new-1" for each in after["ranks"] for one in each["posts"])


def test_posts_that_come_later_give_the_ranks_of_all_at_once(capsys, community, tmp_path):
    posts = pq.read_table(community / "posts.parquet").sort_by("timestamp")
    cut = posts.num_rows * 9 // 10
    for name, part in (("old", posts.slice(0, cut)), ("new", posts.slice(cut))):
        pq.write_table(part, tmp_path / f"{name}.parquet")
    told(capsys, "rank", tmp_path / "old.parquet", *TOPICS, *MEASURES, "-o", tmp_path / "r", OPERATOR)
    assert told(capsys, "add", tmp_path / "new.parquet", "--in", tmp_path / "r")["new_people"] > 0
    key = ("person", "topic", "measure")
    both = [
        {tuple(row[name] for name in key): row for row in ranks_of(d)} for d in (community / "ranks", tmp_path / "r")
    ]
    assert both[0] == both[1]


def test_the_alert_is_an_exit_code(capsys, community, where):
    rows = placed(community / "ranks")
    asked = ("--topic", "depression", "--measure", "lda-dt", "--alert", "95")
    assert told(capsys, "person", rows[0]["person"], *where, *asked, code=1)["ranks"][0]["alert"]
    assert not told(capsys, "person", rows[-1]["person"], *where, *asked)["ranks"][0]["alert"]
    asked = ("--topic", "depression", "--measure", "bow", "--alert", "95", "--draft", WORRIED)
    assert told(capsys, "person", rows[-1]["person"], *where, *asked, code=1)["draft"][0]["crosses"]


def test_a_draft_may_come_from_the_standard_input(capsys, monkeypatch, community, where):
    monkeypatch.setattr("sys.stdin", io.StringIO(WORRIED))
    found = told(capsys, "person", placed(community / "ranks")[-1]["person"], *where, "--draft", "-")
    assert max(each["before"] - each["after"] for each in found["draft"]) > 100


def test_the_audit_names_nobody_and_gives_a_table_to_compare_with_at_home(capsys, community, where, tmp_path):
    page, table = tmp_path / "audit.html", tmp_path / "community.json"
    found = told(capsys, "audit", *where, "-o", page, "--quantiles", table)
    assert found["people"] % 20 == 0
    counts = [one["people"] for spread in found["spreads"] for one in spread["bins"]]
    assert all(count is None or (count >= 20 and count % 20 == 0) for count in counts)
    assert "No guarantee" in found["guarantee"]
    authors = set(pq.read_table(community / "posts.parquet")["author_id"].to_pylist())
    for text in (page.read_text(), table.read_text()):
        assert not any(author in text for author in authors)
    (tmp_path / "me.txt").write_text(f"{WORRIED}\n\nthe weather is fine")
    asked = ("--topic", "depression", "--measure", "bow", "--quantiles", table)
    own = told(capsys, "local", tmp_path / "me.txt", *asked)["risks"][0]
    assert own["percentile"][0] > 0.8


def test_at_home_only_numbers_come_out(capsys, tmp_path):
    secret = tmp_path / "diary.txt"
    secret.write_text(f"{WORRIED}\n\nxyzzy plugh\n")
    found = told(capsys, "local", secret)
    assert found["entries"] == 2
    assert max(found["risks"], key=lambda each: each["risk"])["topic"] == "depression"
    assert run(["risk", "local", str(secret)]) == 0
    shown = capsys.readouterr()
    assert not {"therapist", "antidepressants", "hopeless", "xyzzy"} & set((shown.out + shown.err).split())
    assert "depression" in shown.out


def test_at_home_means_one_person_and_no_community(capsys, community, tmp_path):
    secret = tmp_path / "diary.txt"
    secret.write_text(WORRIED)
    assert "no entry has a time" in complaint(capsys, "risk", "local", secret, "--measure", "lda-t")
    assert "compares with a community" in complaint(capsys, "risk", "local", secret, "--measure", "entropy")
    assert "need word vectors" in complaint(capsys, "risk", "local", secret, "--measure", "w2v")
    assert "people" in complaint(capsys, "risk", "local", community / "posts.parquet")
    secret.write_text(" \n\n ")
    assert "no texts" in complaint(capsys, "risk", "local", secret)


def test_without_times_all_but_measures_over_time_work(capsys, tmp_path):
    rows = [("ann", WORRIED), ("bob", "the lawn wants rain"), ("cem", "debt and loans and a collector at the door")]
    table = pa.table({"user": [row[0] for row in rows], "text": [row[1] for row in rows]})
    pq.write_table(table, tmp_path / "posts.parquet")
    asked = ("rank", tmp_path / "posts.parquet", "--column", "author_id=user", "--without-times", *TOPICS, OPERATOR)
    said = complaint(capsys, "risk", *asked, "-o", tmp_path / "r")
    assert "no entry has a time" in said
    assert "without -t" in said
    assert not (tmp_path / "r").exists()
    measures = ("--measure", "lda-d", "--measure", "bow", "--measure", "entropy")
    told(capsys, *asked, *measures, "-o", tmp_path / "r")
    assert [placed(tmp_path / "r", topic, "lda-d")[0]["person"] for topic in ("depression", "debt")] == ["ann", "cem"]
    found = told(capsys, "person", "ann", "--in", tmp_path / "r", "-o", tmp_path / "page.html")
    assert all(each["history"] == [] for each in found["ranks"])
    assert "Over time" not in (tmp_path / "page.html").read_text()


def test_one_post_no_words_and_weeks_without_any(capsys, tmp_path):
    posts = [
        post("a1", "ann", WORRIED),
        post("b1", "bob", "..."),
        post("c1", "cem", WORRIED, "2020-01-06T00:00:00"),
        post("c2", "cem", WORRIED, "2024-06-03T00:00:00"),
    ]
    path = write_posts(tmp_path / "posts.jsonl", *posts)
    facts = told(capsys, "rank", path, "--topic", "depression", "-o", tmp_path / "r", OPERATOR)
    assert (facts["people"], facts["people_with_one_entry"], facts["people_without_words"]) == (3, 2, 1)
    assert [row["person"] for row in placed(tmp_path / "r")] == ["cem", "ann", "bob"]
    one = told(capsys, "person", "ann", "--in", tmp_path / "r")["ranks"][0]
    assert one["interval"] == [one["rank"], one["rank"]]
    assert len(told(capsys, "person", "cem", "--in", tmp_path / "r")["ranks"][0]["history"]) == 2
    silent = told(capsys, "person", "bob", "--in", tmp_path / "r", "-o", tmp_path / "page.html")["ranks"][0]
    assert silent["posts"] == []
    assert "Nothing of yours is near" in (tmp_path / "page.html").read_text()


def test_a_community_of_one_is_in_the_middle_of_itself_and_not_audited(capsys, tmp_path):
    path = write_posts(tmp_path / "posts.jsonl", post("a1", "ann", WORRIED))
    told(capsys, "rank", path, "--topic", "depression", "--measure", "all", "-o", tmp_path / "r", OPERATOR)
    found = told(capsys, "person", "ann", "--in", tmp_path / "r")
    assert {(each["rank"], each["percentile"]) for each in found["ranks"]} == {(1, 0.5)}
    assert "fewer than 20" in complaint(capsys, "risk", "audit", "--in", tmp_path / "r")


def test_topics_that_cannot_be_measured(capsys, tmp_path):
    path = write_posts(tmp_path / "posts.jsonl", post("a1", "ann", "the lawn wants rain"))
    asked = ("risk", "rank", path, "-o", tmp_path / "r", OPERATOR)
    said = complaint(capsys, *asked, "--topic", "depresion")
    assert "no topic 'depresion'" in said
    assert "depression" in said
    assert "nobody uses any of its words" in complaint(capsys, *asked, "--topic", "debt", "--measure", "bow")
    assert "no latent topic" in complaint(capsys, *asked, "--topic", "diseases")
    assert not (tmp_path / "r").exists()


def test_searchers_of_a_log_are_people_as_well(capsys, tmp_path):
    write_sample("log", World(size=150), tmp_path / "log.parquet")
    told(capsys, "rank", tmp_path / "log.parquet", "--topic", "depression", "-o", tmp_path / "r", OPERATOR)
    first = placed(tmp_path / "r")[0]["person"]
    found = told(capsys, "person", first, "--in", tmp_path / "r", "-o", tmp_path / "page.html")
    assert found["ranks"][0]["posts"]
    assert "<mark>" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("person", "nobody"), "nobody has that name"),
        (("person", "nobody", "--topic", "hiv"), "hiv is not kept here"),
        (("person", "nobody", "--measure", "lda"), "lda is not kept here"),
        (("person", "nobody", "--alert", "100"), "below 100"),
        (("person", "nobody", "--top", "0"), "at least 1"),
        (("audit", "--least", "1"), "--least must be at least 10"),
        (("add", "missing.jsonl"), "missing.jsonl"),
    ],
)
def test_wrong_questions_get_a_clear_answer(capsys, where, arguments, words):
    assert words in complaint(capsys, "risk", *arguments, *where)


def test_directories_that_are_none_or_taken_are_refused(capsys, community, tmp_path):
    assert "no ranking" in complaint(capsys, "risk", "person", "x", "--in", tmp_path / "nothing")
    asked = ("risk", "rank", community / "posts.parquet", "-o", community / "ranks", OPERATOR)
    assert "holds a ranking already" in complaint(capsys, *asked)
    asked = ("risk", "rank", community / "posts.parquet", "-o", ".", OPERATOR)
    assert "you are in" in complaint(capsys, *asked)
    (tmp_path / "models").mkdir()
    assert "no topic model" in complaint(capsys, "risk", "topics", "--model", tmp_path / "models")


def test_topics_go_out_and_come_in(capsys, tmp_path):
    path = tmp_path / "topics.tsv"
    listed = told(capsys, "topics", "--export", path)["topics"]
    assert read_topics(path) == TopicSet.default()
    assert {"depression", "debt"} <= {each["name"] for each in listed}
    assert told(capsys, "topics", "--import", path, "--match", "debt=none")["topics"] != listed
    path.write_text(path.read_text().replace("\t1.0\t", "\tvery\t", 1))
    assert "number" in complaint(capsys, "risk", "topics", "--import", path)
    assert "TOPIC=NUMBER" in complaint(capsys, "risk", "topics", "--match", "debt")


def test_a_judge_may_stop_and_go_on_and_two_judges_agree_or_not(capsys, monkeypatch, tmp_path):
    def answers(text, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return told(capsys, "annotate", *arguments)

    ann, bob = tmp_path / "ann.csv", tmp_path / "bob.csv"
    assert answers("y\n3\nperhaps\nn\nq\n", "--judge", "ann", "-o", ann)["judged_now"] == 2
    again = answers("y\n\n", "--judge", "ann", "-o", ann)
    assert (again["judged_now"], again["judged_before"]) == (1, 2)
    judged = read_annotations(ann)
    assert judged.topics == TopicSet.default().names[:3]
    assert [each.sensitive for each in judged.judgements] == [True, False, True]
    assert judged.judgements[0].domain == "psychiatry and psychology"
    assert answers("y\n3\nn\ny\n1\n", "--judge", "bob", "-o", bob)["judged_now"] == 3
    found = told(capsys, "annotate", "--agreement", ann, bob, "--majority", tmp_path / "topics.tsv")
    assert (found["judges"], found["kappa_of_sensitivity"]) == (2, 1.0)
    assert found["kappa_of_domains"] < 1
    assert TopicSet.default().names[1] not in read_topics(tmp_path / "topics.tsv").names
    assert "same judge" in complaint(capsys, "risk", "annotate", "--agreement", ann, ann)
    assert "--judge" in complaint(capsys, "risk", "annotate")


@pytest.fixture(scope="module")
def models(community):
    asked = ("--latent-topics", "40", "--iterations", "20", "--epochs", "2", "--least-people", "5", "--threads", "1")
    assert run(["risk", "train", str(community / "posts.parquet"), *asked, "-o", str(community / "models")]) == 0
    return community / "models"


def test_models_of_ones_own_have_cards_and_serve_all_measures(capsys, community, models, tmp_path):
    capsys.readouterr()
    cards = (models / "cards.txt").read_text()
    assert cards.count("% of the corpus") == 40
    matched = [
        each["name"]
        for each in told(capsys, "topics", "--model", models)["topics"]
        if each["match"]["latent"] is not None
    ]
    assert matched
    asked = ("--model", models, "--topic", matched[0], "--measure", "all", "-o", tmp_path / "r", OPERATOR)
    assert len(told(capsys, "rank", community / "posts.parquet", *asked)["measures"]) == 14
    assert "holds something" in complaint(
        capsys, "risk", "train", community / "posts.parquet", "-o", models, "--epochs", "1"
    )


def test_latent_topics_can_be_judged_by_their_words(capsys, monkeypatch, models, tmp_path):
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.StringIO("n\ny\n4\n"))
    found = told(capsys, "annotate", "--judge", "x", "--latent", "--model", models, "-o", tmp_path / "x.csv")
    assert (found["judged_now"], found["left"]) == (2, 38)
    assert read_annotations(tmp_path / "x.csv").topics == ("topic-00", "topic-01")


def evaluated(capsys, *arguments):
    assert run(["evaluate", "risk", *map(str, arguments), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_measures_are_compared_on_the_sample_world(capsys, models, tmp_path):
    capsys.readouterr()
    output = tmp_path / "results"
    measures = ("entropy", "differential-privacy", "bow", "bow-t", "bow-dt")
    asked = (*(part for name in measures for part in ("--measure", name)), "--model", models, "--size", "800")
    found = evaluated(capsys, *asked, "-o", output)
    micro = {row["measure"]: row["micro"] for row in found["summary"]}
    assert set(micro) == set(measures)
    assert micro["bow-t"] > micro["entropy"]
    assert {row["parameter"] for row in found["sweep"]} == {"breadth", "recurring"}
    page = (output / "report.html").read_text()
    assert "Afflicted, professional, curious" in page
    assert "not for release" not in page
    assert evaluated(capsys, *asked, "-o", output) == found
    assert "another experiment" in complaint(capsys, "evaluate", "risk", *asked, "--seed", "8", "-o", output)


def test_profiles_are_drawn_for_judges_and_what_they_say_is_measured(capsys, community, models, tmp_path):
    capsys.readouterr()
    posts, sheet = community / "posts.parquet", tmp_path / "sheet.csv"
    asked = ("--posts", posts, "--sheet", "--topic", "depression", "--profiles", "30")
    assert evaluated(capsys, *asked, "-o", sheet)["profiles"] == 30
    assert sheet.stat().st_mode & 0o077 == 0
    first = {row["person"] for row in placed(community / "ranks")[:15]}
    people = sorted({row["person"] for row in placed(community / "ranks")[:40]})
    rows = [f"{person},depression,{judge},{int(person in first)}" for person in people for judge in ("x", "y")]
    judged = tmp_path / "judged.csv"
    judged.write_text("author_id,topic,judge,relevance\n" + "\n".join(rows) + "\n")
    given = ("--measure", "bow", "--measure", "bow-t", "--model", models)
    found = evaluated(capsys, "--posts", posts, "--judgements", judged, *given, "-o", tmp_path / "results")
    assert found["facts"]["judges"] == 2
    assert found["facts"]["kappa"] == 1
    assert {row["measure"] for row in found["summary"]} == {"bow", "bow-t"}
    page = tmp_path / "results" / "report.html"
    assert "Finding: not for release" in page.read_text()
    assert page.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--posts", "x.parquet"), "do not say who is sensitive"),
        (("--judgements", "x.csv"), "--posts"),
        (("--posts", "x.parquet", "--judgements", "x.csv", "--sheet"), "--sheet or --judgements"),
        (("--entries", "mail", "--size", "tiny"), "posts or log"),
        (("--measure", "lda-x", "--size", "tiny"), "lda-x"),
    ],
)
def test_confused_evaluations_are_refused(capsys, tmp_path, arguments, words):
    assert words in complaint(capsys, "evaluate", "risk", *arguments, "-o", tmp_path / "results")

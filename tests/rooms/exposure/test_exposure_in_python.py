"""`aidos.exposure` as somebody uses it in a notebook."""

import gc
import json
import re

import pandas as pd
import pytest

import aidos
from aidos.core.mechanism import Finding
from aidos.errors import AidosError
from aidos.report.page import render

TEXTS = (
    "my debt counsellor is kind",
    "the debt grows and grows",
    "a lovely day at the lake",
    "debt and tea by the lake",
)


def posts(first=0, number=12):
    made = range(first, first + number)
    return pd.DataFrame(
        {
            "post_id": [f"p{at}" for at in made],
            "author_id": [f"author{at % 4}" for at in made],
            "timestamp": [f"2024-01-{at % 28 + 1:02d}T00:00:00" for at in made],
            "text": [f"{TEXTS[at % 4]} number{at}" for at in made],
        }
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A directory that was computed."""
    directory = tmp_path_factory.mktemp("home") / "exposure"
    aidos.exposure(posts(), output=directory, k=5)
    return directory


def test_a_table_of_posts_is_computed_and_asked(kept):
    found = aidos.exposure(posts(), k=5)
    assert repr(found).startswith("<CommunityExposure: directory=")
    assert found.facts()["settings"]["k"] == 5
    assert found.to_pandas().set_index("author_id").loc["author1", "posts"] == 3
    member = found.member("author1", top=3)
    assert isinstance(member, Finding)
    assert len(member.to_pandas()) == 3
    assert member.facts()["critical"] == aidos.exposure(kept).member("author1", top=3).facts()["critical"]


def test_a_notebook_shows_a_members_queries_with_their_words_marked_in_her_posts(kept):
    member = aidos.exposure(kept).member("author1", top=2)
    shown = member._repr_html_()
    marked = re.findall(r"<mark>(.*?)</mark>", shown)
    assert set(marked) <= {word for each in member.value.critical for word in each.query.split()}
    assert marked
    assert "<table>" in shown
    page = render(member.page())
    assert f"aidos.exposure({str(kept)!r}).member(author_id=&#39;author1&#39;, top=2)".replace("'", "&#39;") in page


def test_queries_drafts_and_audits_are_answers(kept, tmp_path):
    found = aidos.exposure(str(kept))
    results = found.query("debt lake")
    assert results.documents == 3
    assert results.table().column_names == ["rank", "post", "member", "match", "ties"]
    assert found.query("debt unheardof").remarks()
    draft = found.draft("a debt nobody knows of", author="author1", top=3)
    assert draft.queries >= draft.whole > 0
    assert "nobody knows of" not in render(draft.page())
    crowd = posts(number=24).assign(author_id=[f"author{at % 12}" for at in range(24)])
    audit = aidos.exposure(crowd, k=5).audit(least=10)
    assert isinstance(audit, Finding)
    assert audit.to_pandas()["group"].unique().tolist() == ["match", "held by", "topic"]
    audit.save(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").stat().st_mode & 0o077 == 0


def test_posts_come_and_go_and_the_next_answer_knows():
    found = aidos.exposure(posts())
    assert found.add(posts(first=12, number=4)).facts()["posts"] == 4
    assert found.query("number13").documents == 1
    assert found.delete(["p13"]).facts()["posts"] == 1
    assert found.query("number13").documents == 0
    members = found.to_pandas().set_index("author_id")
    assert members["posts"].to_dict() == {"author0": 4, "author1": 3, "author2": 4, "author3": 4}
    told = found.member("author1", raw=True).facts()
    assert members.loc["author1", "exposures"] == told["exposures"]


def test_without_a_directory_it_lives_as_long_as_the_answer():
    found = aidos.exposure(posts())
    place = found.directory
    assert place.stat().st_mode & 0o077 == 0
    assert "aidos.exposure(posts).member(" in found.member("author1").facts()["command"]
    del found
    gc.collect()
    assert not place.exists()
    assert not place.parent.exists()


def test_what_is_wrong_is_told_with_a_hint(kept, tmp_path):
    found = aidos.exposure(kept)
    (tmp_path / "empty").mkdir()
    for asked, words in [
        (lambda: aidos.exposure(tmp_path / "empty"), "exposure.json"),
        (lambda: aidos.exposure(tmp_path / "nothing.csv"), "nothing.csv"),
        (lambda: aidos.exposure(kept, k=7), "another k"),
        (lambda: aidos.exposure(posts(), k=0), "k must be at least 1"),
        (lambda: aidos.exposure(posts(), ties="random"), "ties must be one of"),
        (lambda: aidos.exposure(posts().drop(columns="author_id")), "author_id"),
        (lambda: aidos.exposure(posts(), largest_spill="much"), "size such as 20GB"),
        (lambda: aidos.exposure(posts(), kay=3), "no parameter kay"),
        (lambda: found.member("nobody"), "no member of that name"),
        (lambda: found.member("author1", top=0), "top must be at least 1"),
        (lambda: found.member("author1", tpo=3), "no parameter tpo"),
        (lambda: found.member(7), "author_id must be a text"),
        (lambda: found.query("one two three"), "one word or two"),
        (lambda: found.delete("p1"), "post_ids must be a list"),
        (lambda: found.delete([]), "no post is named"),
        (lambda: found.audit(least=1), "least must be at least 10"),
        (lambda: found.train(output=tmp_path / "m.json"), "signals are missing"),
        (lambda: found.add(posts()), "post_id that is there already"),
    ]:
        with pytest.raises(AidosError, match=words) as caught:
            asked()
        assert caught.value.hint, words


def test_facts_are_what_the_command_line_prints(kept, capsys):
    from aidos.surfaces.cli import run

    assert run(["expose", "query", "debt", "--in", str(kept), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out) == aidos.exposure(kept).query("debt").facts()

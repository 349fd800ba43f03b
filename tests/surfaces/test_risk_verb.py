"""``aidos.risk``: a community ranked from Python, with or without a directory, and one of its people."""

import pandas as pd
import pytest

import aidos
from aidos.errors import AidosError, ParameterError

ASKED = {"topics": ["depression"], "measures": ["bow"], "i_am_the_operator": True}


@pytest.fixture(scope="module")
def posts():
    words = ["hopeless and empty", "so empty", "the garden blooms", "bread and butter"]
    return pd.DataFrame(
        {
            "post_id": [f"p{number}" for number in range(8)],
            "author_id": ["ann", "ben", "cid", "dora"] * 2,
            "timestamp": pd.date_range("2024-03-01", periods=8, freq="D"),
            "text": [*words, "hopeless again", "a walk", "a walk", "a walk"],
        }
    )


def test_only_who_says_to_be_the_operator_ranks_others(posts):
    with pytest.raises(ParameterError, match="only those who are responsible for them may do"):
        aidos.risk(posts, topics=["depression"])


def test_a_table_and_a_file_with_a_directory_give_the_same(posts, tmp_path):
    posts.to_parquet(tmp_path / "posts.parquet")
    told = aidos.risk(posts, **ASKED)
    kept = aidos.risk(str(tmp_path / "*.parquet"), **ASKED, output=tmp_path / "ranks")
    assert told.top(10).equals(kept.top(10))
    first = told.top(1).to_pylist()
    assert [(row["person"], row["topic"], row["rank"]) for row in first] == [("ann", "depression", 1)]
    hers = told.person("ann", top=1)
    assert hers.to_json() == kept.person("ann", top=1).to_json()
    assert hers.facts()["ranks"][0]["posts"]
    assert (tmp_path / "ranks" / "ranks.parquet").exists()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda told: told.person("nobody"), "nobody has that name among 4 people"),
        (lambda told: told.person("ann", tip=3), "person has no parameter tip"),
        (lambda told: told.person("ann", topics=["debt"]), "debt is not kept here"),
    ],
)
def test_mistakes_about_a_person_are_told(posts, wrong, words):
    told = aidos.risk(posts, **ASKED)
    with pytest.raises(AidosError, match=words):
        wrong(told)

"""A word counts for a topic only in a post that is about it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from town import Town

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import ParameterError
from aidos.model.senses import ABOUT, PostSenses, WordSenses
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.community import gather
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.rank import load_ranker, rank_member
from aidos.rooms.exposure.critical.senses import MemberSenses, Sense, sensitivity_order
from aidos.rooms.exposure.queries.records import NO_WORD

TAXONOMY = Taxonomy.of(
    [
        Topic(id="root", parent="", name="All"),
        Topic(id="body", parent="root", name="Body", sensitive="health", words=("stroke", "clot", "brain")),
        Topic(id="purse", parent="root", name="Purse", sensitive="money", words=("debt", "loan")),
        Topic(id="kitchen", parent="root", name="Kitchen", words=("fridge", "stove", "pan", "clot")),
        Topic(id="cooking", parent="kitchen", name="Cooking", words=("soup", "pan")),
    ]
)
WORDS = WordSenses.of_taxonomy(TAXONOMY, Analyser())


def senses_of(post, words=WORDS):
    """The senses of each word of a post, by hand from the formula on the page."""
    names = list(dict.fromkeys(post.split()))
    rows = words.places(names)
    total = sum(words.shares[row].astype(float) for row in rows)
    found = {}
    for name, row in zip(names, rows, strict=True):
        share = words.shares[row].astype(float)
        spoken = share * (0.1 + total - share)
        top = spoken[: len(words.categories)] / (spoken.sum() + 2.0)
        found[name] = dict(zip(words.categories, top, strict=True))
    return found


def computed(posts, words=WORDS):
    pairs = [(at, word) for at, post in enumerate(posts) for word in dict.fromkeys(post.split())]
    owners, held = np.array([at for at, _ in pairs], dtype=np.int64), words.places([word for _, word in pairs])
    found = PostSenses.of(words, len(posts), owners, held)
    return pairs, found.senses(owners, held, np.ones(len(pairs), dtype=bool))


def test_shares_are_those_of_what_topics_say():
    names = ("stroke", "clot", "pan", "nothing")
    stroke, clot, pan, nothing = WORDS.shares[WORDS.places(names)]
    assert WORDS.categories == ("health", "money")
    first = 1 / (1 + 1 / 2 + 1 / 3)
    assert stroke == pytest.approx([first / (first + 0.02), 0, 0])
    health, kitchen = first / 2, (1 / 4) / (1 + 1 / 2 + 1 / 3 + 1 / 4)
    told = health + kitchen + 0.02
    assert clot == pytest.approx([health / told, 0, kitchen / told])
    assert pan[:2].tolist() == [0, 0]  # both its topics are of one branch
    assert not nothing.any()


@given(
    st.lists(
        st.lists(st.sampled_from(["stroke", "clot", "brain", "debt", "loan", "fridge", "pan", "soup", "tea"])),
        min_size=1,
    )
)
def test_senses_are_those_of_the_formula(posts):
    texts = [" ".join(post) for post in posts]
    pairs, found = computed(texts)
    for (at, word), row in zip(pairs, found, strict=True):
        assert row == pytest.approx(list(senses_of(texts[at])[word].values()), abs=1e-6)


def test_a_stroke_in_the_kitchen_is_no_illness():
    pairs, found = computed(["fridge stroke stove", "stroke clot brain", "stroke"])
    health = {pair: row[0] for pair, row in zip(pairs, found, strict=True)}
    assert health[0, "stroke"] < 0.1
    assert health[1, "stroke"] >= ABOUT
    assert health[2, "stroke"] < 0.1 / 2.1
    assert health[0, "stroke"] < ABOUT


TEXTS = [
    (0, "whiskey in the cake with flour and sugar"),
    (0, "my doctor says depression and anxiety need therapy and medication"),
    (0, "depression over the ocean brings weather"),
    (1, "garden weather"),
]


def test_the_same_word_stands_higher_in_the_post_that_is_about_it():
    town = Town(TEXTS, k=4)
    rows = town.exposures(0)
    scores = sensitivity_order(town, rows)
    word = town.numbers["depression"]
    alone = (rows.first == word) & (rows.second == NO_WORD)
    by_post = dict(zip(rows.posts[alone].tolist(), scores[alone].tolist(), strict=True))
    assert by_post[1] > 3 * by_post[2] > 0
    assert scores[(rows.posts == 3)].tolist() == []
    ranked = rank_member(town, rows, top=5, rows_per_post=None)
    assert set(ranked.rows.posts.tolist()) == {1}
    why = ranked.reasons[0].up[0].words
    assert "mental health" in why
    assert "beside it" in why
    assert ranked.scores.tolist() == sorted(ranked.scores.tolist(), reverse=True)


def test_rows_of_one_member_and_of_all_have_the_same_scores_and_partial_matches_their_own():
    town = Town(TEXTS, k=4)
    everybody = town.exposures()
    scores = sensitivity_order(town, everybody)
    mine = everybody.members == 0
    own = everybody.take(mine)
    senses = MemberSenses.of(town, gather(town, own))
    assert senses.scores(own) == pytest.approx(scores[mine])
    partial = own.take(~own.whole)
    assert len(partial)
    assert np.isfinite(senses.scores(partial)).all()


def test_what_is_weakly_about_a_topic_is_told_as_such():
    weak = Sense(word="cell", category="mental-health", company=(), sense=0.1)
    assert weak.sentence() == "“cell” may be about mental health"
    strong = Sense(word="clot", category="health", company=("stroke", "brain"), sense=0.6)
    assert strong.sentence() == "“clot” is about health, like “stroke” and “brain” beside it"


def test_stems_have_senses_too(stemmed_town):
    rows = stemmed_town.exposures(0)
    told = MemberSenses.of(stemmed_town, gather(stemmed_town, rows)).told(rows)
    assert any(sense.category == "health" for row in told for sense in row)


def test_which_ranker_is_asked_for(tmp_path):
    assert load_ranker(None) is None
    assert load_ranker(None, learned=True) == CriticalityModel.default()
    with pytest.raises(ParameterError, match="two models"):
        load_ranker(tmp_path / "m.json", learned=True)

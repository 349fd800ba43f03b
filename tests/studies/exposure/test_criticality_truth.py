"""The world's truth about exposing queries: its text model against texts, its levels against deletions."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from aidos.model.text.analyser import Analyser
from aidos.studies.exposure.experiment import SLIP, TrueCriticality, word_distributions
from aidos.world.posts import DELETED, DELETED_AFFLICTED, DELETED_SENSITIVE, post_blocks
from aidos.world.size import World
from aidos.world.truth import truth_blocks
from aidos.world.vocabulary import build_vocabulary

WORLD = World(3000, 5)


@pytest.fixture(scope="module")
def posts():
    table = pa.concat_tables(post_blocks(WORLD))
    return table.filter(pc.equal(table["community"], "open"))


@pytest.fixture(scope="module")
def truth():
    return TrueCriticality(WORLD)


def test_levels_are_those_by_which_posts_are_deleted(posts, truth):
    levels = truth.levels(posts)
    deleted = posts["deleted_later"].to_numpy()
    for level, rate in enumerate((DELETED, DELETED_SENSITIVE, DELETED_AFFLICTED)):
        here = deleted[levels == level]
        assert len(here) > 100
        assert abs(here.mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / len(here))


def test_the_highest_level_is_of_afflicted_members_and_their_topic(posts, truth):
    facts = pa.concat_tables(truth_blocks(World(3000, 5))).to_pylist()
    afflicted = {(row["id"], row["topic"]) for row in facts if row["fact"] == "afflicted"}
    sensitive = {row["id"] for row in facts if row["fact"] == "sensitive" and row["value"] == 1}
    rows = zip(posts["author_id"].to_pylist(), posts["forum"].to_pylist(), strict=True)
    expected = [2 if row in afflicted else int(row[1] in sensitive) for row in rows]
    assert truth.levels(posts).tolist() == expected


def test_distributions_are_those_of_the_texts(posts):
    vocabulary = build_vocabulary(WORLD)
    drawn = word_distributions(vocabulary)
    assert drawn.sum(axis=1) == pytest.approx(np.ones(len(drawn)))
    numbers = {word: number for number, word in enumerate(vocabulary.words)}
    stream = np.random.default_rng(1)
    texts = [Analyser().terms(text) for text in posts["text"].to_pylist()]
    forums = np.array(posts["forum"].to_pylist())
    # About sensitive topics people write in a few of their words, or in passing.
    for topic in range(vocabulary.ordinary):
        mine = np.flatnonzero(forums == vocabulary.topics[topic].id).tolist()
        words = [numbers[word] for place in mine for word in texts[place] if word in numbers]
        observed = np.bincount(words, minlength=len(vocabulary.words))
        simulated = stream.multinomial(len(words), drawn[topic])
        far, near = (np.abs(counts / len(words) - drawn[topic]).sum() for counts in (observed, simulated))
        # As far as a sample of that many words is; decorations and a second topic a post add a little.
        assert far < 1.35 * near + 0.03


def test_words_of_a_sensitive_topic_give_it_away_and_others_do_not(truth):
    revealing = [["depression"], ["heroin"], ["creditor", "how"], ["guitar", "alimony"], ["zzz", "hiv"]]
    harmless = [["guitar"], ["how", "to"], ["zzz"], [], ["recipe", "zzz"]]
    assert truth.reveals(revealing).all()
    assert not truth.reveals(harmless).any()
    assert truth.reveals([]).tolist() == []


def test_two_words_are_weighed_together():
    vocabulary = build_vocabulary(WORLD)
    drawn = np.maximum(word_distributions(vocabulary)[: vocabulary.in_use], SLIP)
    stream = np.random.default_rng(4)
    pairs = stream.integers(0, len(vocabulary.words), (200, 2))
    joint = drawn[:, pairs[:, 0]] * drawn[:, pairs[:, 1]]
    share = joint[vocabulary.ordinary :].sum(axis=0) / joint.sum(axis=0)
    found = TrueCriticality(WORLD).reveals([[vocabulary.words[word] for word in pair] for pair in pairs.tolist()])
    clear = np.abs(share - 0.5) > 1e-9
    assert (found == (share >= 0.5))[clear].all()
    assert 0 < found.sum() < len(found)


def test_stems_are_looked_up_as_stems():
    pytest.importorskip("Stemmer")
    stemmed = TrueCriticality(WORLD, analyser=Analyser(stop_words="english", stemmer="english"))
    assert stemmed.reveals([["depress"], ["alcohol"]]).all()
    assert not stemmed.reveals([["depression"]]).any()  # no stem

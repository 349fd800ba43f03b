"""Learning topics from made-up posts: the right ones are found, rare people's words stay out, a seed repeats."""

import numpy as np
import pyarrow as pa
import pytest

from aidos.errors import InputError, ParameterError
from aidos.model.latent.matching import match
from aidos.model.latent.model import TopicModel
from aidos.model.latent.training import coherence, train_topics
from aidos.model.sensitive import TopicSet
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Vocabulary
from aidos.model.wordlimits import WordLimits, kept_texts, kept_words
from aidos.world.posts import post_blocks
from aidos.world.size import World
from aidos.world.vocabulary import build_vocabulary

PLAIN = Analyser()
LOOSE = WordLimits(least_people=1, least_texts=1, most_share=1.0)
GROUPS = (("red", "green", "blue", "pink"), ("cat", "dog", "cow", "pig"), ("one", "two", "six", "ten"))


def grouped_texts(number, seed):
    stream = np.random.default_rng(seed)
    groups = stream.integers(0, 3, number)
    return groups, [" ".join(stream.choice(GROUPS[group], 6)) for group in groups]


def test_groups_of_words_become_topics_and_new_texts_find_theirs():
    _, texts = grouped_texts(300, 1)
    model = train_topics(texts, topics=3, limits=LOOSE, analyser=PLAIN, iterations=40, seed=3)
    found = {frozenset(salient.word for salient in model.salient(topic, 4)) for topic in range(3)}
    assert found == {frozenset(group) for group in GROUPS}
    known = Vocabulary(model.words)
    read = analyse(texts, known, analyser=PLAIN)
    assert model.coherences == pytest.approx(coherence(model, read.starts, read.terms), abs=1e-6)
    assert (coherence(model, read.starts, read.terms, number=4) > 0.2).all()
    assert model.shares.sum() == pytest.approx(1, abs=1e-5)
    assert model.note == "How many people share its words was not counted: it should stay where its texts are."
    groups, fresh = grouped_texts(100, 2)
    vocabulary = Vocabulary(model.words)
    read = analyse(fresh, vocabulary, analyser=PLAIN)
    theta = model.infer(read.starts, read.terms, np.ones(len(read.terms), dtype=np.float32))
    named = theta.argmax(axis=1)
    assert len({(group, topic) for group, topic in zip(groups.tolist(), named.tolist(), strict=True)}) == 3
    assert theta.max(axis=1).min() > 0.9


def test_guided_topics_come_first_and_in_order():
    _, texts = grouped_texts(300, 1)
    for order in ((0, 1, 2), (2, 0, 1)):
        guides = [GROUPS[group][:2] for group in order]
        model = train_topics(texts, topics=5, guides=guides, limits=LOOSE, analyser=PLAIN, iterations=40, seed=3)
        for topic, group in enumerate(order):
            assert {salient.word for salient in model.salient(topic, 4)} == set(GROUPS[group])


def test_words_are_shown_as_most_people_write_them():
    texts = ["we divorced and argued", "divorced people argued", "a divorce", "who argues"] * 5
    people = [number % 4 if number < 18 else 9 for number in range(20)]
    limits = WordLimits(least_people=2, least_texts=1, most_share=1.0)
    model = train_topics(texts, topics=1, people=people, limits=limits, iterations=5)
    forms = {found.word: found.form for found in model.salient(0)}
    assert forms["divorc"] == "divorced"
    assert forms["argu"] == "argued"
    # Only one person writes each form: then the stem alone is told.
    few = train_topics(
        ["arguing", "argued", "arguable arguments"], topics=1, people=[1, 2, 3], limits=limits, iterations=5
    )
    assert {found.form for found in few.salient(0)} == {"argu"}


def test_guides_bring_no_words_that_too_few_people_use():
    _, texts = grouped_texts(300, 1)
    free = train_topics(texts, topics=4, limits=LOOSE, analyser=PLAIN, iterations=3)
    guides = [[*GROUPS[0], "unheard"], ["of"]]
    guided = train_topics(texts, topics=4, guides=guides, limits=LOOSE, analyser=PLAIN, iterations=3)
    assert set(guided.words) == set(free.words)


def test_more_guides_than_topics_are_refused():
    with pytest.raises(ParameterError, match="3 topics are to be guided, but there are 2"):
        train_topics(["a b"], topics=2, guides=GROUPS)


def test_one_thread_repeats_and_progress_is_told():
    _, texts = grouped_texts(120, 1)

    class Told:
        done: list[float] = []  # noqa: RUF012 (one test looks at it)

        def task(self, label, *, total, unit):
            self.total = total
            return self

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def advance(self, amount):
            raise AssertionError

        def move_to(self, done):
            self.done.append(done)

    told = Told()
    first, again = (
        train_topics(texts, topics=5, limits=LOOSE, analyser=PLAIN, iterations=12, seed=8, progress=told)
        for _ in range(2)
    )
    assert first.words == again.words
    assert np.array_equal(first.phi, again.phi)
    assert np.array_equal(first.prior, again.prior)
    assert told.total == 12
    assert max(told.done) >= 10
    several = train_topics(texts, topics=5, limits=LOOSE, analyser=PLAIN, iterations=3, threads=2)
    assert several.words


def test_words_of_few_people_stay_out():
    texts = ["common rare", "common rare", "common", "common odd", "odd common"]
    people = ["a", "a", "b", "c", "d"]
    model = train_topics(
        texts,
        topics=2,
        people=people,
        limits=WordLimits(least_people=2, least_texts=1, most_share=1.0),
        analyser=PLAIN,
        iterations=2,
        note="Small.",
    )
    assert set(model.words) == {"common", "odd"}
    assert model.note == "Small. Each of its words was used by at least 2 people."


def test_which_words_are_kept_by_hand():
    vocabulary = Vocabulary()
    read = analyse(["a a b", "a c", "a b", ""], vocabulary)
    assert kept_words(read, vocabulary, LOOSE).tolist() == [True, True, True]
    kept = kept_words(read, vocabulary, WordLimits(least_texts=2, most_share=0.5))
    assert kept.tolist() == [False, True, False]
    assert list(kept_texts(read, vocabulary, kept)) == [["b"], [], ["b"], []]
    with pytest.raises(ParameterError, match="4 texts, but writers of 1"):
        kept_words(read, vocabulary, LOOSE, ["x"])
    with pytest.raises(ParameterError, match="least_people must be at least 1"):
        WordLimits(least_people=0)


def test_impossible_requests_are_refused_at_once():
    with pytest.raises(ParameterError, match=r"topics must be from 1 .*iterations.*seed.*threads"):
        train_topics(["a"], topics=0, iterations=0, seed=-1, threads=0)
    for texts in ([], ["", None], ["lonely words"]):
        with pytest.raises(InputError, match="no word is left"):
            train_topics(texts)


def test_most_sensitive_topics_of_a_small_made_up_world_are_found():
    world = World(2000)
    posts = pa.concat_tables(post_blocks(world))
    limits = WordLimits(least_people=5)
    people = posts["author_id"].to_pylist()
    model = train_topics(posts["text"], people=people, limits=limits, topics=64, iterations=80)
    found = match(model, TopicSet.default())
    vocabulary = build_vocabulary(world)
    written_about = {vocabulary.topics[number].id for number in vocabulary.sensitive}
    assert len(written_about & set(found.dimensions)) >= 8
    words = [salient.word for salient in model.salient(found.latent("debt"), 10)]
    assert {"debt", "creditor"} <= set(words)


def test_the_model_that_comes_along_knows_the_sensitive_topics_and_says_that_it_is_made_up():
    model = TopicModel.default()
    assert "made-up world" in model.note
    topics = TopicSet.default()
    found = match(model, topics)
    assert len(found.dimensions) > 0.6 * len(topics)
    theta = {}
    for text in ("so sad and hopeless, the antidepressants make me numb", "the bailiff came about my arrears and debt"):
        numbers = model.numbers(model.analyser.terms(text))
        theta[text] = model.infer(np.array([0, len(numbers)]), numbers, np.ones(len(numbers), dtype=np.float32))[0]
    first, second = theta.values()
    assert first[found.latent("depression")] > 0.3 > second[found.latent("depression")]
    assert second[found.latent("debt")] > 0.3 > first[found.latent("debt")]

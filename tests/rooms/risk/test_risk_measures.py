import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from risk_worlds import ASKED, NAMES, TOPICS, WEEK, heard, models_of, people_of, rows

from aidos.errors import ParameterError
from aidos.model.sensitive import SensitiveTopic, TopicSet
from aidos.model.text.analyser import Analyser
from aidos.model.vectors import WordVectors
from aidos.rooms.risk.evidence import gather, gather_redrawn
from aidos.rooms.risk.formulas import relative_entropy
from aidos.rooms.risk.knowledge import RiskModels, make_space
from aidos.rooms.risk.measures import (
    MEASURES,
    DifferentialPrivacyRisk,
    EntropyRisk,
    RiskQuestion,
    TopicalRisk,
    risks,
)
from oracles.risk import plain_entries, plain_risk, plain_similarity

MODELS = models_of()
forms = st.builds(
    TopicalRisk,
    space=st.sampled_from(["bow", "lda", "w2v"]),
    domain=st.booleans(),
    time=st.booleans(),
    breadth=st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.75, 1.0]),
    recurring=st.integers(1, 5),
    bucket_days=st.sampled_from([1, 7, 30]),
)


@settings(max_examples=25, deadline=None)
@given(given=rows)
def test_all_fourteen_equal_the_loops_straight_from_the_formulas(given):
    people = people_of(heard(given))
    for measure in MEASURES.values():
        found = measure.risk(people, ASKED, MODELS)
        assert found.shape == (len(people), len(ASKED))
        expected = plain_risk(measure, people, ASKED, MODELS)
        np.testing.assert_allclose(found, expected, atol=2e-5, rtol=2e-5, err_msg=str(measure))


@settings(max_examples=30, deadline=None)
@given(given=rows, measure=forms)
def test_other_parameters_equal_the_loops_too(given, measure):
    people = people_of(heard(given))
    expected = plain_risk(measure, people, ASKED, MODELS)
    np.testing.assert_allclose(measure.risk(people, ASKED, MODELS), expected, atol=2e-5, rtol=2e-5)


@settings(max_examples=20, deadline=None)
@given(given=rows, chosen=st.lists(st.sampled_from(list(MEASURES)), min_size=1, max_size=6), other=forms)
def test_many_measures_at_once_give_what_each_gives(given, chosen, other):
    question = RiskQuestion(people=people_of(heard(given)), topics=ASKED, models=MODELS)
    measures = [*(MEASURES[name] for name in chosen), other]
    together = risks(measures, question)
    assert list(together) == list(dict.fromkeys(measures))
    for measure, found in together.items():
        np.testing.assert_array_equal(found, measure.risk(question.people, question.topics, question.models))


@settings(max_examples=30, deadline=None)
@given(given=rows, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_number_of_threads_change_nothing(given, order):
    full = heard(given)
    mixed = list(full)
    order.shuffle(mixed)
    measures = list(MEASURES.values())
    first = risks(measures, RiskQuestion(people=people_of(full), topics=ASKED, models=MODELS), threads=1)
    second = risks(measures, RiskQuestion(people=people_of(mixed), topics=ASKED, models=MODELS), threads=3)
    for measure in measures:
        # Words are numbered by first appearance, and sums of word vectors go by number.
        np.testing.assert_allclose(first[measure], second[measure], atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(given=rows, space=st.sampled_from(["bow", "lda", "w2v"]), data=st.data())
def test_evidence_of_one_entry_at_a_time_in_any_order_is_that_of_all_at_once(given, space, data):
    people = people_of(heard(given))
    made = make_space(space, ASKED, MODELS, people.analyser, domains=True)
    whole = gather(people, made, {7: 3, 1: 2})
    stepwise = type(whole).of_nothing(len(people), made.layout, {7: 3, 1: 2})
    for entry in data.draw(st.permutations(range(people.entries))):
        one = people.bags.part(entry, entry + 1)
        values = made.bind(people.vocabulary)(one)
        times = people.times[entry : entry + 1]
        stepwise.add(values, people.owners(entry, entry + 1), times, made.layout)
    np.testing.assert_array_equal(whole.best, stepwise.best)
    for days in (7, 1):
        np.testing.assert_array_equal(np.sort(whole.highest[days]), np.sort(stepwise.highest[days]))


@settings(max_examples=30, deadline=None)
@given(given=rows, name=st.sampled_from(list(MEASURES)), data=st.data())
def test_redrawn_entries_give_what_a_community_with_those_entries_gives(given, name, data):
    full = heard(given)
    people = people_of(full)
    person = data.draw(st.integers(0, len(people) - 2))  # not the last, without whom topics may be unheard of
    author = people.ids[person].as_py()
    # By time, and then by the name of the post, which is given in the order of the rows.
    own = sorted((row for row in full if row[0] == author), key=lambda row: row[1])
    place = st.integers(0, len(own) - 1)
    draws = data.draw(st.lists(st.lists(place, min_size=len(own), max_size=len(own)), min_size=1, max_size=3))
    found = MEASURES[name].redrawn(people, person, ASKED, MODELS, np.array(draws))
    for draw, risk in zip(draws, found, strict=True):
        changed = people_of([*(row for row in full if row[0] != author), *(own[place] for place in draw)])
        np.testing.assert_allclose(risk, MEASURES[name].risk(changed, ASKED, MODELS)[person], atol=1e-6)


def test_an_afflicted_person_a_professional_and_a_curious_one_come_apart():
    afflicted = [("afflicted", week * WEEK, f"{NAMES[1]} {NAMES[2]}") for week in range(5)]
    professional = [("professional", week * WEEK, f"{NAMES[1]} {NAMES[2]}") for week in range(5)]
    professional += [("professional", 0, " ".join(NAMES[first:last])) for first, last in ((4, 6), (6, 9), (9, 10))]
    curious = [("curious", 0, f"{NAMES[1]} {NAMES[2]}"), ("curious", 9 * WEEK, NAMES[20])]
    people = people_of([*afflicted, *professional, *curious])
    at = {name: people.find(name) for name in ("afflicted", "professional", "curious")}

    def risk(name):
        return MEASURES[name].risk(people, ("debt",), MODELS)[:, 0]

    plain, broad, often, both = risk("bow"), risk("bow-d"), risk("bow-t"), risk("bow-dt")
    assert plain[at["afflicted"]] == plain[at["professional"]] == plain[at["curious"]]
    assert broad[at["professional"]] < broad[at["afflicted"]] == broad[at["curious"]]
    assert often[at["curious"]] < often[at["afflicted"]] == often[at["professional"]]
    assert both[at["afflicted"]] > max(both[at["professional"]], both[at["curious"]])


def test_bow_is_the_cosine_over_the_words_of_all_topics():
    people = people_of([("a", 0, f"{NAMES[0]} {NAMES[0]} {NAMES[13]} {NAMES[20]} {NAMES[20]}")])
    found = MEASURES["bow"].risk(people, ("debt", "hiv"), MODELS)
    np.testing.assert_allclose(found, [[2 / (np.sqrt(5) * 2), 1 / (np.sqrt(5) * np.sqrt(3))]], rtol=1e-6)


def test_word_vectors_follow_the_closed_form_for_two_words():
    topics = TopicSet(topics=(SensitiveTopic(name="x", words=("x",)),))
    angle = 0.5
    vectors = WordVectors(words=("x", "v", "w"), matrix=np.array([[1, 0], [np.cos(angle), np.sin(angle)], [0, 1]]))
    models = RiskModels(topics=topics, vectors=vectors)
    people = people_of([("a", 0, "v w"), ("b", 0, "x w"), ("c", 0, "w"), ("d", 0, "v x")])
    both = np.array([1, 0]) + np.cos(angle) * np.array([np.cos(angle), np.sin(angle)])
    expected = [np.cos(angle), 1.0, 0.0, both[0] / np.hypot(*both)]
    np.testing.assert_allclose(MEASURES["w2v"].risk(people, ("x",), models)[:, 0], expected, atol=1e-6)


def test_long_entries_go_another_way_to_the_same_cosine():
    stream = np.random.default_rng(3)
    words = tuple(f"v{number}" for number in range(150))
    models = RiskModels(
        topics=TopicSet(topics=(SensitiveTopic(name="x", words=words[:5]), SensitiveTopic(name="y", words=words[5:9]))),
        vectors=WordVectors(words=words, matrix=stream.normal(size=(150, 40))),
    )
    people = people_of([("a", 0, " ".join(words)), ("b", 0, " ".join(words[:64])), ("c", 0, " ".join(words[:65]))])
    expected = plain_risk(MEASURES["w2v"], people, ("x", "y"), models)
    np.testing.assert_allclose(MEASURES["w2v"].risk(people, ("x", "y"), models), expected, rtol=1e-4)


def test_lda_is_the_share_of_the_matched_latent_topic_over_the_length_of_the_mixture():
    people = people_of([("a", 0, " ".join(NAMES[:6])), ("b", 0, "unknown")])
    model = MODELS.latent
    mixture = model.infer(np.array([0, 6]), model.numbers(NAMES[:6]), np.ones(6, dtype=np.int32))[0].astype(float)
    found = MEASURES["lda"].risk(people, ("debt", "hiv"), MODELS)
    np.testing.assert_allclose(found[0], mixture[[0, 4]] / np.linalg.norm(mixture), rtol=1e-5)
    assert not found[1].any()


def test_the_entropy_is_that_of_two_coins_and_nothing_is_lost_for_common_words():
    with np.errstate(all="raise"):
        found = relative_entropy(np.array([1.0, 5.0, 10.0]), 10, 0.01)
    for count, value in zip((1, 5, 10), found, strict=True):
        p, q = (count + 0.01) / 10.02, (count - 1 + 0.01) / 9.02
        assert value == pytest.approx(p * np.log2(p / q) + (1 - p) * np.log2((1 - p) / (1 - q)), rel=1e-9)
    people, count = 10_000_000, 4_000_000.0
    share = (count + 0.01) / (people + 0.02)
    close = (1 - share) / (2 * share * (people - 1) ** 2) / np.log(2)  # the second order term, which is all that counts
    assert relative_entropy(np.array([count]), people, 0.01)[0] == pytest.approx(close, rel=1e-3)


def test_baselines_are_least_for_those_without_the_words_and_most_for_a_word_that_nobody_shares():
    people = people_of(
        [("alone", 0, NAMES[0]), ("none", 0, NAMES[20]), ("p", 0, NAMES[1]), ("q", 0, NAMES[1]), ("r", 0, NAMES[20])]
    )
    for measure in (EntropyRisk(), DifferentialPrivacyRisk()):
        found = dict(zip(people.ids.to_pylist(), measure.risk(people, ("debt",), MODELS)[:, 0], strict=True))
        assert found["none"] == found["r"] < found["p"] == found["q"] < found["alone"]
        assert np.isfinite(found["alone"])
    assert EntropyRisk().risk(people, ("debt",), MODELS)[people.find("none"), 0] == 0
    loss = DifferentialPrivacyRisk().risk(people, ("debt",), MODELS)[:, 0]
    assert loss[people.find("alone")] == pytest.approx(np.log2(1.01 / 5.02 / (0.01 / 4.02)))
    assert loss[people.find("none")] == pytest.approx(np.log2(5.02 / 4.02))


def test_less_smoothing_makes_a_unique_word_count_more():
    people = people_of([("a", 0, NAMES[0]), ("b", 0, NAMES[20])])
    loose, tight = (DifferentialPrivacyRisk(smoothing=s).risk(people, ("debt",), MODELS)[0, 0] for s in (1.0, 1e-6))
    assert loose < 2
    assert 15 < tight < 25


def test_missing_buckets_count_nothing_and_empty_ones_do_not_exist():
    text = " ".join(NAMES[10:13])
    people = people_of([("often", 0, text), ("often", 50 * WEEK, text), ("once", 0, text), ("once", 3600, text)])
    found = TopicalRisk(space="bow", time=True, recurring=3).risk(people, ("grief",), MODELS)[:, 0]
    np.testing.assert_allclose(found, [2 / 3, 1 / 3][:: -1 if people.find("often") else 1], rtol=1e-6)


def test_weeks_begin_on_mondays_in_universal_time():
    text = " ".join(NAMES[10:13])
    monday = 4 * 86_400  # 5 January 1970
    people = people_of(
        [("a", monday - 1, text), ("a", monday, text), ("b", monday, text), ("b", monday + WEEK - 1, text)]
    )
    found = TopicalRisk(space="bow", time=True, recurring=2).risk(people, ("grief",), MODELS)[:, 0]
    np.testing.assert_allclose(found, [1.0, 0.5], rtol=1e-6)


def test_a_topic_alone_in_its_domain_has_no_breadth():
    people = people_of([("a", 0, NAMES[10]), ("b", 0, NAMES[20])])
    plain, focused = (MEASURES[name].risk(people, ("grief",), MODELS) for name in ("bow", "bow-d"))
    np.testing.assert_allclose(focused, (plain + 1) / 2)


def test_latent_topics_that_are_one_are_not_each_others_domain():
    space = make_space("lda", ("debt", "loans"), MODELS, Analyser(), domains=True)
    assert space.layout.columns == 3
    assert [len(group) for group in space.layout.domains] == [2, 2]


def test_only_the_topics_that_are_asked_for_and_their_domains_are_computed():
    assert make_space("bow", ("hiv",), MODELS, Analyser(), domains=True).layout.columns == 2
    assert make_space("bow", ("hiv",), MODELS, Analyser(), domains=False).layout.columns == 1
    assert make_space("w2v", ASKED, MODELS, Analyser(), domains=True).layout.columns == len(TOPICS)


def test_similarities_need_no_neighbours():
    people = people_of([("a", 0, " ".join(NAMES[:9])), ("a", 1, ""), ("b", 0, NAMES[3])])
    for name in ("bow", "lda", "w2v"):
        compare = make_space(name, ASKED, MODELS, people.analyser, domains=True).bind(people.vocabulary)
        alone = np.concatenate([compare(people.bags.part(entry, entry + 1)) for entry in range(3)])
        np.testing.assert_array_equal(compare(people.bags), alone)
        assert not alone[1].any()
        plain = plain_similarity(name, ASKED, MODELS, people)(plain_entries(people, 0)[0])
        columns = make_space(name, ASKED, MODELS, people.analyser, domains=True).layout.asked
        np.testing.assert_allclose(alone[0, columns], plain, atol=1e-5)


def test_redrawing_all_of_ones_entries_changes_nothing():
    people = people_of([("a", week * WEEK, NAMES[week]) for week in range(6)])
    space = make_space("bow", ASKED, MODELS, people.analyser, domains=True)
    once = gather(people, space, {7: 3})
    again = gather_redrawn(people.alone(0), space, {7: 3}, np.arange(6)[None, :])
    np.testing.assert_array_equal(once.best, again.best)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=str)
def test_measures_say_what_they_measure(measure):
    assert measure.about().endswith(".")
    assert measure.needs_times == measure.name.endswith("t")


def test_risks_of_topical_measures_are_from_0_to_1():
    people = people_of(heard([("a", 0, " ".join(NAMES))]))
    for measure in MEASURES.values():
        found = measure.risk(people, ASKED, MODELS)
        assert (found >= 0).all()
        assert isinstance(measure, EntropyRisk | DifferentialPrivacyRisk) or (found <= 1).all()


def test_a_measure_refuses_what_the_models_lack():
    people = people_of([("a", 0, NAMES[0])])
    bare = RiskModels(topics=TOPICS)
    with pytest.raises(ParameterError, match="need a topic model"):
        MEASURES["lda"].risk(people, ("debt",), bare)
    with pytest.raises(ParameterError, match="need word vectors"):
        MEASURES["w2v-d"].risk(people, ("debt",), bare)
    other = models_of(analyser=Analyser(shortest=2))
    for name in ("lda", "w2v"):
        with pytest.raises(ParameterError, match="read with words:shortest=2"):
            MEASURES[name].risk(people, ("debt",), other)

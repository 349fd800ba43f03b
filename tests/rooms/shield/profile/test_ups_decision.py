"""The online decision, its words, and the memory of a session."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ups_cases import Hits, antichain, golden, random_case

from aidos.core.profile import SessionMemory
from aidos.errors import ParameterError
from aidos.rooms.shield.profile.generalisation import LIMIT_MODEL, THREAT_MODEL, ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.guessing import reappeared
from aidos.rooms.shield.profile.prune import profile_risk
from aidos.rooms.shield.profile.seed import SeedProfile


def decide(case, memory=None, hits=None, *, risk="excess", **parameters):
    data = QueryAndProfile(tree=case.tree, held=case.held, layer=case.layer, hits=hits or case.hits, memory=memory)
    return ProfileGeneralisation(risk=risk, **parameters).run(data)


def hits_of(case, *names):
    return Hits(np.array([case.tree.places[name] for name in names], np.int32), np.ones(len(names)))


def vague(case):
    """The query of the worked example about more that she does not hold: the seed is the same, a profile helps more."""
    return hits_of(case, "EaglesBand", "EaglesNFL", "Figure", "Painting", "Jazz", "GiantsNFL", "Diet")


def states(decision):
    return {topic.topic: topic.state for topic in decision.topics}


def test_a_profile_is_sent_within_the_limit_and_says_what_was_left_out():
    case = golden()
    decision = decide(case, hits=vague(case), risk_limit=0.1)
    assert decision.outcome == "sent"
    assert decision.is_sent
    assert states(decision)["IceSkating"] == states(decision)["Figure"] == "hidden"
    assert decision.hidden == ("IceSkating", "Figure")
    assert decision.before == pytest.approx((0.2905, 0.3056), abs=5e-5)
    assert decision.after == pytest.approx((0.2639, 0.0556), abs=5e-5)
    assert decision.utility == pytest.approx(decision.after.power - decision.query_power)
    assert decision.reason == "2 topics are left out, so that the risk stays within the limit of 0.1"
    assert [topic.topic for topic in decision.topics if topic.sensitive] == ["Figure"]
    assert [topic.topic for topic in decision.topics if topic.asked] == ["EaglesBand", "EaglesNFL", "Figure"]
    assert [topic.depth for topic in decision.topics] == [0, 1, 2, 3, 1, 2, 3, 2, 3]


def test_everything_is_sent_where_the_limit_allows_it():
    case = golden()
    decision = decide(case, hits=vague(case), risk_limit=1.0)
    assert set(states(decision).values()) == {"sent"}
    assert "all topics that the query is about" in decision.reason
    assert decision.hidden == ()


def test_distinct_queries_get_no_profile():
    case = golden()
    decision = decide(case, hits=hits_of(case, "EaglesBand"))
    assert decision.query_power == pytest.approx(1.0)
    assert decision.outcome == "distinct"
    assert not decision.sent.size
    assert decision.after == (0.0, 0.0)
    assert decision.utility == 0
    assert decision.hidden == ()
    assert "says clearly enough" in decision.reason


@pytest.mark.parametrize(("names", "words"), [((), "no topic was found"), (("Painting", "Jazz"), "nothing about")])
def test_nothing_in_common_sends_nothing(names, words):
    case = golden()
    decision = decide(case, hits=hits_of(case, *names))
    assert decision.outcome == "nothing-in-common"
    assert words in decision.reason
    assert not decision.sent.size


def test_where_only_the_root_fits_nothing_is_sent():
    case = golden()
    decision = decide(case, hits=hits_of(case, "Depression", "Painting"), risk_limit=0.0)
    assert decision.outcome == "all-hidden"
    assert decision.hidden == ("Health", "Depression")
    assert "no topic can be shown" in decision.reason


@pytest.mark.parametrize("algorithm", ["ratio", "greedy-il", "greedy-dp", "exact"])
@pytest.mark.parametrize("risk", ["excess", "paper"])
def test_every_algorithm_and_risk_decides(algorithm, risk):
    case = golden()
    decision = decide(case, hits=vague(case), risk_limit=0.1, algorithm=algorithm, risk=risk)
    assert decision.is_sent
    assert decision.after.risk <= 0.1 + 1e-12


@pytest.mark.parametrize("limit", [-0.1, 1.1, float("nan")])
def test_limits_are_from_0_to_1(limit):
    with pytest.raises(ParameterError, match="risk_limit"):
        ProfileGeneralisation(risk_limit=limit)
    with pytest.raises(ParameterError, match="distinct_from"):
        ProfileGeneralisation(distinct_from=limit)


def test_the_threat_model_is_stated():
    for words in ("query itself is not protected", "many queries", "not differential privacy"):
        assert words in THREAT_MODEL
        assert words in LIMIT_MODEL
    assert ProfileGeneralisation().threat_model == THREAT_MODEL
    assert ProfileGeneralisation(risk="paper").threat_model == LIMIT_MODEL


@pytest.mark.parametrize("given", [{"risk_limit": 0.1}, {"algorithm": "exact"}])
def test_what_prunes_to_a_limit_is_refused_where_there_is_none(given):
    with pytest.raises(ParameterError, match=next(iter(given))):
        ProfileGeneralisation(**given)
    assert ProfileGeneralisation(risk="paper", **given).limit == 0.1


def test_a_profile_that_tells_no_more_than_the_query_is_not_sent():
    case = golden()
    hits = Hits(hits_of(case, "EaglesBand", "EaglesNFL", "Figure").places, np.array([1.0, 30.0, 1.0]))
    tight = decide(case, hits=hits, risk_limit=0.0)
    assert tight.outcome == "no-gain"
    assert not tight.sent.size
    assert tight.hidden == ()
    assert "no more than the query" in tight.reason


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.sampled_from(["unmarked", "excess", "paper"]))
def test_whatever_is_sent_gains_something(number, risk):
    draws = np.random.default_rng(number)
    case = random_case(draws, topics=25)
    decision = decide(case, risk=risk)
    assert not decision.is_sent or decision.utility > 0


def random_queries(case, draws, number):
    above = case.tree.parents.tolist()
    for _ in range(number):
        chosen = antichain(draws.permutation(range(1, len(above))).tolist(), above, int(draws.integers(5, 13)))
        # As relevant as they are common: the query says little by itself, and a profile helps.
        yield Hits(np.array(chosen, np.int32), draws.uniform(0.8, 1, len(chosen)) * case.tree.supports[chosen])


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.sampled_from(["ratio", "greedy-il", "exact"]), st.sampled_from([0.0, 0.1, 0.3]))
def test_what_was_hidden_once_is_in_no_later_profile(number, algorithm, limit):
    draws = np.random.default_rng(number)
    case = random_case(draws, topics=30, held=0.9)
    memory = SessionMemory()
    for hits in random_queries(case, draws, 6):
        decision = decide(case, memory, hits, algorithm=algorithm, risk_limit=limit)
        shown = {case.tree.ids[place] for place in decision.sent}
        assert not shown & memory.hidden
        below = [place for topic in memory.hidden for place in case.tree.below(case.tree.places[topic])]
        assert not set(decision.sent.tolist()) & set(below)
        memory = decision.remembered(memory)
        assert memory.hidden >= set(decision.hidden)


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.sampled_from(["ratio", "greedy-il", "exact"]), st.sampled_from([0.0, 0.05, 0.2]))
def test_all_that_a_session_shows_stays_within_the_limit_together(number, algorithm, limit):
    draws = np.random.default_rng(number)
    case = random_case(draws, topics=30, held=0.9)
    memory = SessionMemory()
    for hits in random_queries(case, draws, 6):
        decision = decide(case, memory, hits, algorithm=algorithm, risk_limit=limit, distinct_from=1.0)
        memory = decision.remembered(memory)
        together = case.plain.risk(memory.shown | {case.plain.root}, "excess")
        assert together <= limit + 1e-9
        if decision.is_sent:
            assert decision.after.risk == pytest.approx(together, abs=1e-9)


def test_without_memory_a_session_shows_more_than_one_answer_may():
    over = 0
    for number in range(20):
        draws = np.random.default_rng(number)
        case = random_case(draws, topics=30, held=0.9)
        shown = {case.plain.root}
        for hits in random_queries(case, draws, 6):
            shown |= set(decide(case, None, hits, risk_limit=0.1, distinct_from=1.0).shown)
        over += case.plain.risk(frozenset(shown), "excess") > 0.1 + 1e-9
    assert over >= 10


@settings(max_examples=100)
@given(st.integers(0, 10**9))
def test_risk_counts_what_was_shown_before_as_the_plain_formula_does(number):
    draws = np.random.default_rng(number)
    case = random_case(draws, topics=20, asked=5, held=0.9)
    held = [place for place in case.held.places.tolist() if draws.random() < 0.3]
    earlier = case.tree.with_paths([0, *held]).tolist()
    seed = SeedProfile.of(case.tree, case.held, case.layer, case.hits, earlier)
    alive = np.ones(len(seed), dtype=bool)
    for row in range(1, len(seed)):
        alive[row] = alive[seed.arrays.parents[row]] and draws.random() < 0.7
    names = frozenset(case.tree.ids[place] for place in {*earlier, *seed.places[alive].tolist()})
    assert profile_risk(seed, alive) == pytest.approx(case.plain.risk(names, "excess"), abs=1e-9)


def test_without_memory_hidden_topics_come_back():
    came_back = {True: 0, False: 0}
    for number in range(20):
        draws = np.random.default_rng(number)
        case = random_case(draws, topics=30, held=0.9)
        queries = list(random_queries(case, draws, 6))
        for remembers in (True, False):
            memory, seeds, shown = SessionMemory(), [], []
            for hits in queries:
                decision = decide(case, memory if remembers else None, hits, risk_limit=0.1, distinct_from=1.0)
                memory = decision.remembered(memory)
                weighed = decision.outcome in ("sent", "all-hidden")
                seed = SeedProfile.of(case.tree, case.held, case.layer, hits).places
                seeds.append(seed if weighed else np.zeros(1, np.int32))
                shown.append(decision.sent if decision.is_sent else np.zeros(1, np.int32))
            came_back[remembers] += len(reappeared(seeds, shown))
    assert came_back[True] == 0
    assert came_back[False] > 20


def test_the_reason_tells_what_the_session_hid():
    case = golden()
    decision = decide(case, SessionMemory(frozenset({"EaglesNFL"})), vague(case), risk_limit=0.1)
    assert states(decision)["EaglesNFL"] == "hidden"
    assert decision.reason.endswith("; 1 was hidden earlier in the session and stays so")
    both = decide(case, SessionMemory(frozenset({"Music", "elsewhere"})), vague(case), risk_limit=0.1)
    assert states(both)["EaglesBand"] == "hidden"
    assert both.reason.endswith("; 2 were hidden earlier in the session and stay so")

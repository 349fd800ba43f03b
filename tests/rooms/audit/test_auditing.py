"""The whole audit: it finds what was put in, keeps quiet where there is nothing, and survives what people collect."""

from dataclasses import replace

import numpy as np
import pytest
from audit_results import TAXONOMY, ask, given_topics, result

from aidos.core.resultpairs import Result, ResultPair
from aidos.errors import ParameterError
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.audit.auditing import describe_pairs
from aidos.rooms.audit.findings import finding_to_json
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.audit.topics.space import GivenTopics
from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics

QUICK = ProfileAudit()
ABOUT = TaxonomyTopics(TopicSearch(TAXONOMY))


def audit(pairs, mechanism=QUICK, source=ABOUT):
    return mechanism.run(describe_pairs(pairs, source))


@pytest.fixture(scope="module")
def pairs():
    return ask(np.random.default_rng(1), again=True)


@pytest.fixture(scope="module")
def finding(pairs):
    return audit(pairs)


def test_the_lifted_topic_is_found_with_evidence(finding, pairs):
    assert finding.detected
    assert finding.controlled
    assert finding.queries == 120
    assert 0 < finding.changed <= 120
    best = finding.topics[0]
    assert best.topic.id == "diabetes"
    assert best.found
    assert best.is_lifted
    assert best.weight.low > 0
    assert best.shift > 0
    assert finding.space.ids == tuple(dict.fromkeys(finding.space.ids))
    assert {each.topic.id for each in finding.topics} == set(finding.space.ids)
    assert 0.3 < finding.rate.value < 1
    assert not finding.suspicion.whole_file
    assert len(finding.evidence) == 10
    assert [each.strength for each in finding.evidence] == sorted((e.strength for e in finding.evidence), reverse=True)
    for watched in finding.evidence:
        pair = next(pair for pair in pairs if pair.query == watched.query)
        assert [each.address for each in watched.results] == [each.url for each in pair.personalised]
        by_rank = sorted(watched.results, key=lambda each: each.vanilla_rank)
        assert [each.address for each in by_rank] == [each.url for each in pair.vanilla]
        risen = [each for each in watched.results if each.address.startswith("https://diabetes") and each.reason]
        assert all(each.reason.topic.id == "diabetes" for each in risen if each.vanilla_rank > each.personalised_rank)


def test_lists_differ_more_than_two_vanilla_fetches(finding):
    measures = {each.measure: each for each in finding.differences}
    assert set(measures) == {"jaccard", "kendall", "rbo", "earth-mover"}
    assert measures["jaccard"].mean == 0
    for name in ("kendall", "rbo", "earth-mover"):
        assert measures[name].mean > measures[name].noise
        assert measures[name].p_value < 0.05


def test_the_same_pairs_give_the_same_finding(pairs):
    described = describe_pairs(pairs[:20], ABOUT)
    first, again = (QUICK.run(described) for _ in "12")
    assert finding_to_json(first) == finding_to_json(again)
    other = replace(QUICK, seed=5).run(described)
    assert other.topics == first.topics
    assert [each.p_value for each in other.differences] != [each.p_value for each in first.differences]


def test_both_methods_and_sources_find_the_topic(pairs):
    for method in ("inference", "learning"):
        found = audit(pairs, ProfileAudit(method=method), given_topics(pairs))
        assert found.method == method
        assert found.topics[0].topic.id == "diabetes"
        assert found.space.kind == "given"


def test_a_plan_is_in_searches_of_all_kinds_where_only_some_have_a_second_vanilla_list(pairs, finding):
    half = [replace(pair, again=pair.again if number % 2 else None) for number, pair in enumerate(pairs)]
    only = audit([pair for pair in half if pair.again is not None]).power
    both = audit(half)
    assert both.controlled
    assert both.power.fewest == 2 * only.fewest
    assert finding.power.fewest < finding.power.queries


@pytest.mark.slow
def test_without_a_profile_nothing_is_found_or_shown():
    quiet = 0
    for seed in range(4):
        found = audit(ask(np.random.default_rng(seed), lifted=None, queries=60, again=seed % 2 == 0))
        quiet += not found.detected
        assert found.detected or not (found.found or found.evidence)
        assert len(found.topics) == len(found.space)
    assert quiet >= 3


def test_identical_lists_are_no_profile_and_are_warned_of():
    same = [replace(pair, personalised=pair.vanilla) for pair in ask(np.random.default_rng(2), queries=30)]
    found = audit(same)
    assert not found.detected
    assert found.found == ()
    assert found.changed == 0
    assert found.power.fewest is None
    assert found.power.queries is None
    assert any("are the same" in words for words in found.warnings)
    assert all(each.mean == 0 for each in found.differences)


def test_lists_of_one_result_say_nothing():
    pairs = ask(np.random.default_rng(3), queries=12, length=1)
    found = audit(pairs)
    assert not found.detected
    assert any("12 of 12 queries have fewer than two results" in words for words in found.warnings)
    assert all(each.weight.value == pytest.approx(0, abs=1e-9) for each in found.topics)


def test_a_single_pair_and_unequal_lengths_are_audited():
    results = tuple(result(topic, 1) for topic in ("jazz", "asthma", "tennis"))
    found = audit([ResultPair(query="q", vanilla=results, personalised=(results[2],))])
    assert not found.detected
    assert found.queries == 1
    assert any("fewer than" in words for words in found.warnings)


def test_lists_without_common_results_are_warned_of():
    pairs = [
        ResultPair(query=str(n), vanilla=(result("jazz", n),), personalised=(result("asthma", n), result("opera", n)))
        for n in range(25)
    ]
    found = audit(pairs)
    assert any("25 of 25 queries have no result that stands in both lists" in words for words in found.warnings)
    held = {each.shown_in for watched in found.evidence for each in watched.results}
    assert held <= {"vanilla", "personalised"}
    assert found.differences[0].mean == 1


def test_fewer_queries_than_topics_are_warned_of_and_weights_shrink():
    pairs = ask(np.random.default_rng(4), queries=30)
    urls = {each.url for pair in pairs for each in pair.vanilla}
    fine = {url: {f"{url.split('//')[1].split('.')[0]} {int(url[-1]) % 10}": 1.0} for url in urls}
    found = audit(pairs, source=GivenTopics(fine))
    assert len(found.space) > 30
    assert any("30 queries are fewer than" in words for words in found.warnings)


def test_exchanged_lists_are_suspected():
    # A list that is not personalised is the vanilla one nearly, so that the two ways round can be told.
    pairs = ask(np.random.default_rng(6), queries=150, strength=8.0, rate=0.5)
    calm = [
        pair if pair.personalised[0].url.startswith("https://diabetes") else replace(pair, personalised=pair.vanilla)
        for pair in pairs
    ]
    assert not audit(calm).suspicion.whole_file
    turned = [replace(pair, vanilla=pair.personalised, personalised=pair.vanilla) for pair in calm]
    found = audit(turned)
    assert found.suspicion.whole_file
    assert found.suspicion.pairs == ()
    assert any("exchanged throughout" in words for words in found.warnings)


def test_too_few_second_vanilla_lists_are_said(pairs):
    some = [pair if number < 10 else replace(pair, again=None) for number, pair in enumerate(pairs[:40])]
    found = audit(some)
    assert not found.controlled
    assert any("10 of 40 queries have a second vanilla list" in words for words in found.warnings)
    assert all(each.noise is None for each in found.differences)


def test_results_without_any_text_have_no_topic_but_do_not_stop_the_audit():
    pairs = ask(np.random.default_rng(8), queries=25)
    silent = tuple(Result(url=f"https://www.example/{number}") for number in range(2))
    found = audit([*pairs, ResultPair(query="silent", vanilla=silent, personalised=silent[::-1])])
    assert any("2 of" in words and "no topic" in words for words in found.warnings)
    assert found.queries == 26


def test_impossible_parameters_are_refused_at_once():
    with pytest.raises(ParameterError) as caught:
        ProfileAudit(method="guessing", level=0, confidence=1, evidence=-1)
    for name in ("method", "level", "confidence", "evidence"):
        assert name in caught.value.message

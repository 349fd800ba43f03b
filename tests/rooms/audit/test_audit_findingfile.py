"""Findings as JSON and back, damaged ones, and two of them compared."""

import json
from dataclasses import replace

import numpy as np
import pytest
from audit_results import TAXONOMY, ask

from aidos.errors import InputError
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.audit.auditing import describe_pairs
from aidos.rooms.audit.comparison import compare_audits
from aidos.rooms.audit.findings import finding_from_json, finding_to_json
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics

SEARCH = TopicSearch(TAXONOMY)


def audit(seed, only=None, **engine):
    data = describe_pairs(ask(np.random.default_rng(seed), **engine), TaxonomyTopics(SEARCH, only))
    return ProfileAudit().run(data)


@pytest.fixture(scope="module")
def finding():
    return audit(1)


@pytest.fixture
def content(finding):
    return finding_to_json(finding)


def test_a_finding_comes_back_as_it_was(finding, content):
    read = finding_from_json(json.loads(json.dumps(content)), "audit.json")
    for name in finding.__dataclass_fields__:
        assert getattr(read, name) == getattr(finding, name)


DAMAGES = {
    "no finding": lambda content: content.pop("format"),
    "another format": lambda content: content.update(format=99),
    "rate.low": lambda content: content["rate"].pop("low"),
    "queries": lambda content: content.update(queries="120"),
    "method": lambda content: content.update(method="guessing"),
    "topics.0.weight": lambda content: content["topics"][0].update(weight=None),
    "not finite": lambda content: content.update(p_value=float("nan")),
    "each once": lambda content: content["topics"].append(content["topics"][0]),
    "out of their limits": lambda content: content.update(level=2.0),
    "nothing was detected": lambda content: content.update(detected=False),
    "evidence.0": lambda content: content.update(evidence=["text"]),
}


@pytest.mark.parametrize("words", DAMAGES)
def test_damaged_findings_are_refused_with_the_place(content, words):
    damaged = json.loads(json.dumps(content))
    DAMAGES[words](damaged)
    with pytest.raises(InputError, match=words) as caught:
        finding_from_json(damaged, "audit.json")
    assert caught.value.message.startswith("audit.json")
    assert caught.value.hint


@pytest.mark.parametrize("other", [None, [], "finding", 7, {}])
def test_other_json_is_no_finding(other):
    with pytest.raises(InputError, match="no finding"):
        finding_from_json(other, "audit.json")


def test_the_same_audit_does_not_differ_and_after_shielding_it_does(finding):
    same = compare_audits(finding, finding)
    assert not same.changed.any()
    assert same.difference.tolist() == [0.0] * len(finding.space)
    assert 0 in same.rate
    shielded = audit(2, only=finding.space.ids[::-1], lifted=None)
    after = compare_audits(finding, shielded)
    names = [topic.id for topic in after.topics]
    assert names == list(finding.space.ids)
    place = names.index("diabetes")
    assert after.changed[place]
    weights = [{each.topic.id: each.weight.value for each in one.topics}["diabetes"] for one in (finding, shielded)]
    assert after.difference[place] == pytest.approx(weights[1] - weights[0])
    assert after.low[place] < after.difference[place] < after.high[place] < 0
    assert after.rate_difference == pytest.approx(shielded.rate.value - finding.rate.value)


def test_audits_of_other_topics_are_not_compared(finding):
    fewer = audit(1, only=finding.space.ids[:2])
    with pytest.raises(InputError, match="topics") as caught:
        compare_audits(finding, fewer)
    assert "--same-topics" in caught.value.hint


def test_latent_topics_of_two_learnings_are_not_taken_for_the_same(finding):
    space = replace(finding.space, kind="latent")
    first = replace(finding, space=space)
    assert not compare_audits(first, first).changed.any()
    renamed = tuple(replace(topic, words=("other",)) for topic in space.topics)
    with pytest.raises(InputError, match="latent"):
        compare_audits(first, replace(finding, space=replace(space, topics=renamed)))

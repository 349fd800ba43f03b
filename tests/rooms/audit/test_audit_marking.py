"""Topics that were found, marked in a profile of the shield."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_findings import conclusion

from aidos.core.profile import KeptProfile, tree_digest
from aidos.errors import ParameterError
from aidos.model.profilefile import OpenedProfile
from aidos.model.taxonomies.opened import open_named
from aidos.rooms.audit.findings import AuditFinding, PowerPlan, Span, Suspicion, TopicFinding
from aidos.rooms.audit.marking import mark_found, refuse_other_topics
from aidos.rooms.audit.topics.space import AuditTopic, TopicSpace


@pytest.fixture(scope="module")
def opened():
    taxonomy = open_named(None)
    kept = KeptProfile(taxonomy="default", digest=tree_digest(taxonomy.tree), supports={"gardening": 2.0})
    return OpenedProfile(path=Path("profile.json"), kept=kept, taxonomy=taxonomy)


def with_marks(opened, **marks):
    return replace(opened, kept=replace(opened.kept, sensitivities=marks))


def finding(opened, weights, *, found=True):
    names = opened.taxonomy.imported.taxonomy
    topics = {topic: AuditTopic(id=topic, name=names[topic].name) for topic in weights}
    one = Span(0.5, 0.4, 0.6)
    return AuditFinding(
        queries=100,
        changed=50,
        method="learning",
        space=TopicSpace(kind="taxonomy", topics=tuple(topics.values()), source="a taxonomy"),
        detected=found,
        conclusion=conclusion(found, p_value=0.001),
        level=0.05,
        p_value=0.001,
        controlled=False,
        confidence=0.95,
        topics=tuple(
            TopicFinding(
                topic=topics[topic],
                weight=Span(weight, weight - 1, weight + 1),
                deviation=0.5,
                shift=weight,
                p_value=0.001,
                found=found,
            )
            for topic, weight in weights.items()
        ),
        rate=one,
        mix=one,
        concentration=one,
        evidence=(),
        differences=(),
        power=PowerPlan(topic=next(iter(topics.values())), chance=0.5, fewest=None, queries=None),
        suspicion=Suspicion(whole_file=False, pairs=()),
    )


def marks(opened, weights, *, everything=False, weight=1.0, found=True):
    changed, told = mark_found(opened, finding(opened, weights, found=found), everything=everything, weight=weight)
    return dict(changed.kept.sensitivities), told


def test_lifted_sensitive_topics_are_marked_and_harmless_ones_only_when_asked(opened):
    held, told = marks(opened, {"debt": 2.0, "gardening": 3.0}, weight=2.5)
    assert held == {"debt": 2.5}
    assert (told.marked, told.harmless, told.already) == (("Debt",), ("Gardening",), ())
    held, told = marks(opened, {"debt": 2.0, "gardening": 3.0}, everything=True)
    assert held == {"debt": 1.0, "gardening": 1.0}
    assert not told.harmless


def test_what_is_sunk_or_no_more_than_chance_is_not_marked(opened):
    assert marks(opened, {"debt": -2.0})[0] == {}
    held, told = marks(opened, {"debt": 2.0}, found=False)
    assert held == {}
    assert not told.marked


def test_marks_of_the_owner_stay_as_she_wanted_them(opened):
    held, told = marks(with_marks(opened, debt=4.0), {"debt": 2.0})
    assert held == {"debt": 4.0}
    assert told.already == ("Debt",)
    parent = opened.taxonomy.imported.taxonomy["debt"].parent
    held, told = marks(with_marks(opened, **{parent: 3.0}), {"debt": 2.0})
    assert held == {parent: 3.0}
    assert told.already == ("Debt",)


def test_a_topic_above_a_marked_one_takes_its_place_with_the_larger_weight(opened):
    parent = opened.taxonomy.imported.taxonomy["debt"].parent
    held, told = marks(with_marks(opened, debt=4.0), {parent: 2.0}, everything=True)
    assert held == {parent: 4.0}
    assert len(told.marked) == 1


def test_topics_of_another_taxonomy_are_refused(opened):
    refuse_other_topics(opened, ("debt", "gardening"))
    with pytest.raises(ParameterError, match="1 of 2 topics are not of the profile's taxonomy"):
        refuse_other_topics(opened, ("debt", "latent-1"))

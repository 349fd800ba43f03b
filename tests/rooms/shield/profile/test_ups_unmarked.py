"""The promise of the default rule: what leaves the house is the same whatever is marked, and betrays none of it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ups_cases import Hits, antichain, golden, random_case

from aidos.core.profile import Requirement, SessionMemory
from aidos.core.taxonomy import Profile
from aidos.rooms.shield.profile.adversary import Sight, unasked
from aidos.rooms.shield.profile.decision import decide
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
from aidos.rooms.shield.profile.rerank import leaves_of, user_scores


def unmarked_part(tree, documents, marks):
    """Documents at topics that are neither marked nor below a marked one, straight from the definition."""

    def is_marked(place):
        return place >= 0 and (tree.ids[place] in marks or is_marked(int(tree.parents[place])))

    return {topic: count for topic, count in documents.items() if not is_marked(tree.places[topic])}


def another_marked_part(tree, unmarked, draws):
    """Somebody with the same unmarked part: other marks with other weights, and anything at and below them."""
    held = {int(place) for topic in unmarked for place in tree.with_paths([tree.places[topic]])}
    free = [place for place in range(1, len(tree)) if not held & set(tree.below(place))]
    chosen = antichain(draws.permutation(free).tolist(), tree.parents.tolist(), int(draws.integers(0, 6)))
    marks = {tree.ids[place]: float(draws.uniform(1e-9, 9)) for place in chosen}
    documents = dict(unmarked)
    for place in chosen:
        for below in tree.below(place):
            if draws.random() < 0.6:
                documents[tree.ids[below]] = float(draws.uniform(0.1, 900))
    return documents, marks


def play(tree, documents, marks, queries, memory, **settings):
    """What leaves the house with each query: the topics sent, and the scores by which results are ordered."""
    held = HeldProfile.of(tree, Profile(documents))
    layer = CostLayer.of(tree, held, Requirement(marks))
    for hits in queries:
        data = QueryAndProfile(tree=tree, held=held, layer=layer, hits=hits, memory=memory)
        decision = decide(ProfileGeneralisation(**settings), data)
        memory = decision.remembered(memory)
        leaves = leaves_of(tree, decision.sent)
        scores = user_scores(decision.basis, leaves, np.eye(len(leaves)))
        yield decision.is_sent, decision.sent.tolist(), scores.tolist(), decision.after.power


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.booleans(), st.sampled_from([0.5, 0.82, 1.0]))
def test_profiles_with_the_same_unmarked_part_send_the_same_with_every_sequence(number, remembers, distinct):
    draws = np.random.default_rng(number)
    case = random_case(draws, topics=int(draws.integers(4, 40)), held=0.8)
    tree, marks = case.tree, case.plain.sensitivities
    unmarked = unmarked_part(tree, case.plain.documents, marks)
    queries = []
    for _ in range(6):
        chosen = antichain(draws.permutation(range(1, len(tree))).tolist(), tree.parents.tolist(), 6)
        queries.append(Hits(np.array(chosen, np.int32), draws.uniform(0.3, 1, len(chosen)) * tree.supports[chosen]))
    # Even a memory that a session under another rule left behind must not tell.
    memory = SessionMemory(frozenset(marks), frozenset(case.plain.documents)) if remembers else SessionMemory()
    seen = list(play(tree, case.plain.documents, marks, queries, memory, distinct_from=distinct))
    for _ in range(3):
        documents, others = another_marked_part(tree, unmarked, draws)
        assert unmarked_part(tree, documents, others) == unmarked
        assert list(play(tree, documents, others, queries, SessionMemory(), distinct_from=distinct)) == seen
    assert list(play(tree, unmarked, {}, queries, SessionMemory(), distinct_from=distinct)) == seen


@settings(max_examples=150)
@given(st.integers(0, 10**9))
def test_nothing_marked_is_sent_and_every_topic_at_an_end_was_asked_for(number):
    draws = np.random.default_rng(number)
    case = random_case(draws, topics=30, held=0.9)
    decision = ProfileGeneralisation(distinct_from=1.0).run(
        QueryAndProfile(tree=case.tree, held=case.held, layer=case.layer, hits=case.hits)
    )
    assert not any(topic.sensitive for topic in decision.topics if topic.state == "sent")
    assert not len(unasked(case.tree, Sight(hits=case.hits, shown=decision.sent)))


def test_the_excess_rule_betrays_that_something_marked_is_below_a_topic_that_was_not_asked_for():
    betrayed = 0
    for number in range(150):
        draws = np.random.default_rng(number)
        case = random_case(draws, topics=30, held=0.9)
        vague = Hits(case.hits.places, case.tree.supports[case.hits.places])
        data = QueryAndProfile(tree=case.tree, held=case.held, layer=case.layer, hits=vague)
        decision = ProfileGeneralisation(risk="excess", distinct_from=1.0).run(data)
        for place in unasked(case.tree, Sight(hits=vague, shown=decision.sent)).tolist():
            below = range(place, place + int(case.tree.sizes[place]))
            betrayed += 1
            assert any(case.layer.sensitivities[at] > 0 for at in below)
    assert betrayed >= 20


def test_weights_of_marks_do_not_count():
    case = golden()
    sent = []
    for weight in (1e-6, 1.0, 1e6):
        layer = CostLayer.of(case.tree, case.held, Requirement({"Figure": weight}))
        data = QueryAndProfile(tree=case.tree, held=case.held, layer=layer, hits=case.hits)
        sent.append(ProfileGeneralisation().run(data).shown)
    assert sent[0] == sent[1] == sent[2]
    assert "Figure" not in sent[0]

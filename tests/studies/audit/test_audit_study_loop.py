"""The loop in the sample world: the service answers for any weights, the shield lets through what it may, and the audit
sees the difference."""

from dataclasses import replace

import numpy as np
import pytest

from aidos.core.resultpairs import align
from aidos.errors import InputError, ParameterError
from aidos.jobs.desk import Desk
from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation
from aidos.studies.audit.loop import (
    MARKED,
    UNMARKED,
    Rehearsal,
    choose_queries,
    measure_accounts,
    measure_loops,
    sensitive_found,
    standing_for,
)
from aidos.studies.audit.plan import AuditExperiment
from aidos.studies.audit.rehearsal import RehearseAudit
from aidos.studies.audit.service import DOCUMENTS, SampleService, ShieldedSearcher, own_profile
from aidos.world.results import account_audit
from aidos.world.size import World

pytestmark = pytest.mark.slow

WORLD = World("tiny")
AUDITOR = ProfileAudit(method="learning")


@pytest.fixture(scope="module")
def service():
    return SampleService.of(WORLD)


@pytest.fixture(scope="module")
def search():
    return TopicSearch(default_taxonomy())


@pytest.fixture(scope="module")
def first(service, search):
    return Rehearsal.of(service, 0, search, AUDITOR, queries=200)


@pytest.fixture(scope="module")
def outcome(first, search):
    """Behind the shield, with marks."""
    return first.shielded(ProfileGeneralisation(), sensitive_found(first.finding, search))


def searcher_of(service, search, *, marks=(), limit=0.1):
    profile = own_profile(service, service.account(0), search, taxonomy="x")
    for topic in marks:
        profile = profile.with_sensitivity(search.tree, topic, 1.0)
    return ShieldedSearcher.of(
        service, search, profile, ProfileGeneralisation(risk="excess", risk_limit=limit, distinct_from=1.0)
    )


def test_pairs_of_the_sample_are_those_of_the_world(service):
    audit = account_audit(WORLD, service.vocabulary, service.index, 1)
    pairs = service.sampled_pairs(1)
    assert len(pairs) == len(audit.queries)
    for pair, vanilla, personalised in zip(pairs, audit.vanilla, audit.personalised, strict=True):
        assert [service.results[number] for number in vanilla] == list(pair.vanilla)
        assert [service.results[number] for number in personalised] == list(pair.personalised)
    assert service.account(1).rate == audit.rate
    with pytest.raises(ParameterError, match="accounts 0 to"):
        service.account(99)


def test_all_lists_of_a_query_hold_the_same_results_and_strong_weights_move_more_than_noise(service):
    account, stream = service.account(0), np.random.default_rng(0)
    moved = {0.0: 0, 1.0: 0}
    for query in service.draw_queries(account, 60, stream):
        for strength in moved:
            pair = service.ask(query, strength * account.weights * 3, stream)
            assert set(pair.vanilla) == set(pair.personalised) == set(pair.again)
            if query.switched:
                order = align(pair).order
                moved[strength] += sum(abs(place - at) for at, place in enumerate(order))
    assert moved[1.0] > 1.2 * moved[0.0]
    assert service.ask(query, account.weights, stream, twice=False).again is None


def test_what_is_sent_keeps_the_weight_and_what_is_hidden_spreads_it_over_the_branch(service, search):
    account = service.account(0)
    private = service.vocabulary.topics[account.liked[-1]].id
    weight, place = float(account.weights[account.liked[-1]]), search.tree.place(private)
    number = int(account.liked[-1])
    text = " ".join(search.taxonomy[private].words[:2])
    told = {}
    for name, marks, limit in (("open", (), 1.0), ("marked", (private,), 0.1)):
        searcher = searcher_of(service, search, marks=marks, limit=limit)
        decision = searcher.decide(text, None)
        asked = sum(
            float(searcher.held.supports[search.tree.place(topic.topic)]) / DOCUMENTS
            for topic in decision.topics
            if topic.asked
        )
        told[name] = searcher.told(decision)
        assert (place in decision.sent) == (name == "open")
        if decision.is_sent:
            assert told[name].sum() == pytest.approx(asked)
        else:
            assert not told[name].any()
    assert told["open"][number] == pytest.approx(weight)
    assert told["marked"][number] < weight / 2


def test_nothing_in_common_tells_the_service_nothing(service, search):
    searcher = searcher_of(service, search)
    decision = searcher.decide("zzzz", None)
    assert not decision.is_sent
    assert not searcher.told(decision).any()


def test_a_taxonomy_without_the_worlds_topics_is_refused(service):
    from aidos.core.taxonomy import Taxonomy, Topic

    other = TopicSearch(Taxonomy.of([Topic("root", "", "All"), Topic("a", "root", "Apples")]))
    with pytest.raises(InputError, match="topics of the sample world"):
        own_profile(service, service.account(0), other, taxonomy="x")


def test_the_first_audit_finds_what_is_sensitive_and_the_second_does_not(first, outcome, search):
    assert first.finding.detected
    assert outcome.marked
    assert all(search.taxonomy.sensitive_category(topic) for topic in outcome.marked)
    assert set(outcome.marked) <= set(outcome.truth)
    before = {each.topic.id: each for each in outcome.before.topics}
    after = {each.topic.id: each for each in outcome.after.topics}
    for topic in outcome.marked:
        assert before[topic].found
        assert not after[topic].found
        assert after[topic].weight.value < before[topic].weight.value / 2
        assert outcome.comparison.difference[outcome.before.space.ids.index(topic)] < 0


def test_both_audits_are_of_the_same_queries_and_topics(outcome):
    assert outcome.after.space.ids == outcome.before.space.ids
    assert [pair.query for pair in outcome.before_pairs] == [pair.query for pair in outcome.after_pairs]
    assert [pair.vanilla for pair in outcome.before_pairs] == [pair.vanilla for pair in outcome.after_pairs]
    assert [pair.personalised for pair in outcome.before_pairs] != [pair.personalised for pair in outcome.after_pairs]
    assert 0 < outcome.hidden <= outcome.sent + outcome.hidden <= 2 * len(outcome.after_pairs)
    assert set(outcome.profile.sensitivities) == set(outcome.marked)
    assert set(outcome.marked).isdisjoint(outcome.profile.shown)


def test_it_is_the_mark_that_hides(first, outcome):
    bare = first.shielded(ProfileGeneralisation(), ())
    assert bare.marked == ()
    assert bare.hidden == 0
    place = outcome.before.space.ids.index(outcome.marked[0])
    assert bare.comparison.difference[place] > outcome.comparison.difference[place]


def test_the_whole_loop_is_the_same_each_time_and_topics_to_mark_may_be_named(service, search):
    topic, quick = service.vocabulary.topics[service.account(1).liked[0]].id, ProfileAudit(evidence=0)
    one, other = (
        Rehearsal.of(again, 1, search, quick, queries=50).shielded(ProfileGeneralisation(), [topic])
        for again in (service, SampleService.of(WORLD))
    )
    assert one.marked == other.marked == (topic,)
    assert one.after_pairs == other.after_pairs
    assert [each.weight for each in one.after.topics] == [each.weight for each in other.after.topics]


def test_accounts_and_loops_are_rows_beside_the_truth(service, search):
    plan = AuditExperiment(accounts=1, loop_accounts=1, loop_queries=50)
    (row,) = measure_accounts(plan, service, search).to_pylist()
    assert row["queries"] == 40
    assert 0 <= row["r_precision"] <= 1
    assert row["found_true"] <= row["found"]
    assert row["true_rate"] == service.account(0).rate
    rows = measure_loops(plan, service, search).to_pylist()
    assert {each["shield"] for each in rows} == {MARKED, UNMARKED}
    assert {each["topic"] for each in rows} == set(service.true_weights(service.account(0)))
    assert {(each["topic"], each["marked"]) for each in rows if each["shield"] == MARKED} == {
        (each["topic"], each["marked"]) for each in rows if each["shield"] == UNMARKED
    }


def test_a_topic_counts_for_the_one_above_it_that_the_audit_has(first, search):
    known = first.finding.space.ids[0]
    assert standing_for([known], first.finding, search) == {known: known}
    assert standing_for([search.tree.ids[0]], first.finding, search) == {search.tree.ids[0]: None}


def test_chosen_queries_mix_what_rose_in_the_pilot_and_are_asked_once(service, search):
    account = service.account(1)
    stream = service.stream("test pilot", 1)
    asked = service.draw_queries(account, 100, stream)
    pilot = [service.ask(query, account.weights, stream) for query in asked]
    candidates = service.draw_queries(account, 400, stream)
    lists = [service.look(query) for query in candidates]
    chosen = choose_queries(pilot, lists, search, 80)
    assert len(chosen) == len(set(chosen)) == 80
    private = service.vocabulary.topics[int(account.liked[-1])].id
    assert search.taxonomy.sensitive_category(private)

    def about(numbers):
        shown = [result for number in numbers for result in lists[number]]
        return sum(f"/{private}/" in result.url for result in shown) / len(shown)

    assert about(chosen[:40]) > 1.5 * about(range(len(lists)))
    assert len(choose_queries(pilot, lists[:30], search, 80)) == 30


def test_a_rehearsal_that_marks_nothing_says_so_before_all_else(service, search):
    rehearsal = RehearseAudit(queries=20, pilot=0.5).run(Desk())
    assert rehearsal.value.pilot == ()
    told = [block.text for block in rehearsal.blocks() if hasattr(block, "text")]
    if rehearsal.value.marked:
        rehearsal = replace(rehearsal, value=replace(rehearsal.value, marked=()))
        told = [block.text for block in rehearsal.blocks() if hasattr(block, "text")]
    assert told[0].startswith("Nothing was marked")
    assert rehearsal.facts()["closed"] is False
    closed = replace(rehearsal, value=replace(rehearsal.value, marked=("depression",)), names={
        **rehearsal.names, "depression": "Depression"
    })  # fmt: skip
    assert closed.idle == ""
    assert "Nothing was marked" not in "".join(block.text for block in closed.blocks() if hasattr(block, "text"))

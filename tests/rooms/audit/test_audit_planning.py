"""How many searches an audit needs, told before one starts, against audits of so many searches."""

from functools import partial

import numpy as np
import pytest

from aidos.core.resultpairs import Fetch, Result, ResultPair
from aidos.errors import ParameterError
from aidos.jobs.desk import Desk
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.auditing import describe_pairs
from aidos.rooms.audit.densities import draw_places
from aidos.rooms.audit.jobs.plan import ExpectedService, PlanSearches
from aidos.rooms.audit.numerics import ndtr
from aidos.rooms.audit.power import SHIFT_PART, expected_effects
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.audit.shifts import shifts_by_query
from aidos.rooms.audit.topics.space import GivenTopics

WEAK = ExpectedService(topics=20)


def three_lists(service, queries, generator):
    """Lists of new results: in the order without an account, with it, and without it again."""
    places = queries * service.results
    maps = TopicMaps.from_dense(generator.dirichlet(np.full(service.topics, 0.05), places))
    ranks = np.tile(np.arange(1, service.results + 1), queries)
    starts = np.arange(queries + 1) * service.results
    vanilla = PairArrays(starts=starts, items=np.arange(places), ranks=ranks, maps=maps)
    lifted = np.repeat(generator.random(queries) < service.rate, service.results)
    about = maps.dot(np.where(np.arange(service.topics) < 1, service.weight, 0.0))
    interests = service.mix * about - (1 - service.mix) * ranks
    noisy = -service.concentration * ranks
    orders = [draw_places(vanilla, each, generator) for each in (np.where(lifted, interests, noisy), noisy)]
    return [vanilla, *(PairArrays(starts=starts, items=one, ranks=ranks[one], maps=maps) for one in orders)]


def score(service, queries, seed):
    """Standard deviations that the topic shifted."""
    _, mine, again = three_lists(service, queries, np.random.default_rng([seed, 5]))
    shifts = (shifts_by_query(mine) - shifts_by_query(again))[:, 0]
    return shifts.sum() / np.sqrt((shifts**2).sum())


def audited(service, queries, seed):
    """A whole audit, of lists by lot and written down."""
    generator = np.random.default_rng([seed, 77])
    lists = three_lists(service, queries, generator)
    results = [Result(url=f"r{number}", title="x") for number in range(len(lists[0].items))]
    topics = {
        each.url: {f"t{topic:03}": share for topic, share in enumerate(lists[0].maps.row(at).tolist()) if share > 0}
        for at, each in enumerate(results)
    }
    pairs = []
    for start, end in zip(lists[0].starts[:-1], lists[0].starts[1:], strict=True):
        vanilla, mine, again = (tuple(results[item] for item in each.items[start:end]) for each in lists)
        fetches = tuple(Fetch(place="home", turn=int(turn), bucket="usual") for turn in generator.permutation(3) + 1)
        pairs.append(ResultPair(query=f"q{start}", vanilla=vanilla, personalised=mine, again=again, fetches=fetches))
    return ProfileAudit(evidence=0).run(describe_pairs(pairs, GivenTopics(topics)))


def test_an_effect_is_the_mean_shift_of_drawn_lists_over_its_deviation():
    for service in (ExpectedService(topics=10, weight=6.0, concentration=0.5), ExpectedService(topics=20, rate=1.0)):
        _, mine, again = three_lists(service, 20_000, np.random.default_rng(3))
        shifts = (shifts_by_query(mine) - shifts_by_query(again))[:, 0]
        seen = shifts.mean() / shifts.std()
        # Four standard errors of either.
        assert expected_effects(service, (service.rate,))[0] == pytest.approx(seen, abs=4 / np.sqrt(20_000))


def test_more_is_needed_for_less_and_nothing_shows_what_moves_nothing():
    needed = WEAK.queries()
    more = partial(ExpectedService, topics=20)
    assert more(weight=6.0).queries() < needed / 2
    assert more(rate=0.2).queries() > 2 * needed
    assert more(concentration=0.3).queries() > needed
    assert WEAK.queries(power=0.95) > needed
    assert WEAK.queries(level=0.01) > needed
    assert more(mix=0.0).queries() is None
    assert more(weight=100.0, rate=1.0, results=50).queries() >= 20
    with pytest.raises(ParameterError, match="weight"):
        ExpectedService(weight=0)
    with pytest.raises(ParameterError, match="chance"):
        PlanSearches(chance=1.0)


def test_the_plan_holds_what_was_asked_among_others():
    plan = PlanSearches(service=ExpectedService(topics=20, weight=5.0, rate=0.4)).run(Desk())
    exact = ExpectedService(topics=20, weight=5.0, rate=0.4).queries()
    assert exact <= plan.searches < 1.1 * exact
    assert plan.needed[4.0, 0.5] > plan.searches * 0.8
    assert len(plan.table()) == len(plan.needed) == 16
    none = PlanSearches(service=ExpectedService(mix=0.0)).run(Desk())
    assert none.searches is None
    assert none.blocks()[0].text.startswith("No number of searches")


@pytest.mark.slow
@pytest.mark.parametrize("service", [WEAK, ExpectedService(topics=20, weight=6.0, concentration=0.3)])
def test_at_the_told_number_the_shift_is_seen_as_often_as_was_promised(service):
    needed = service.queries()
    found = [2 * ndtr(-score(service, needed, seed)) <= 0.05 * SHIFT_PART / service.topics for seed in range(200)]
    # Three standard errors are 0.085; sums of skew shifts over their own deviation vary less than the normal law says.
    assert 0.8 - 0.085 <= np.mean(found) <= 0.95


@pytest.mark.slow
def test_at_the_told_number_audits_name_the_topic_at_least_as_often_as_was_promised():
    needed = WEAK.queries()
    named = [[each.topic.id for each in audited(WEAK, needed, seed).found] for seed in range(25)]
    # At a chance of 0.8 fewer than 15 of 25 come in one of 180 runs.
    assert sum("t000" in each for each in named) >= 15

"""What queries alone tell: the closed form, beside the exact observer, and what is kept of it."""

import numpy as np
import pytest
from ups_cases import Hits, golden

from aidos.core.profile import KeptProfile
from aidos.rooms.shield.profile.adversary import Observer, Sight
from aidos.rooms.shield.profile.asked import told_by_queries, weigh_query
from aidos.studies.ups.pruning import random_tree


def kept_of(tree, *marked):
    return KeptProfile(taxonomy="t", digest="d", supports={}, sensitivities=dict.fromkeys(marked, 1.0))


def hits_of(tree, **scores):
    return Hits(np.array([tree.places[name] for name in scores], np.int32), np.array(list(scores.values())))


def test_beliefs_are_the_odds_of_the_docstring():
    tree = golden().tree
    query = hits_of(tree, Figure=2.0, Depression=1.0)
    each, usual = 0.7 / 20, (2 * 2 + 1 * 4) / 24
    kept = kept_of(tree, "Figure", "Diet").having_asked(weigh_query(tree, query))
    (told,) = told_by_queries(tree, kept, query)
    prior = 1 - (1 - 2 / 24) ** 20
    odds = prior / (1 - prior)
    assert told.topic == "Figure"
    assert told.of_anybody == pytest.approx(prior)
    for chance, times in ((told.before, 1), (told.now, 2)):
        more = odds * (1 + each * 2 / usual) ** times
        assert chance == pytest.approx(more / (1 + more))


def test_a_topic_counts_with_what_is_below_it_and_falls_with_queries_about_others():
    tree = golden().tree
    kept = kept_of(tree, "Sports").having_asked(weigh_query(tree, hits_of(tree, Figure=1.0, EaglesNFL=1.0)))
    told = [told_by_queries(tree, kept, hits)[0].now for hits in (hits_of(tree, Diet=1.0), hits_of(tree))]
    assert told[0] < told[1]
    assert weigh_query(tree, hits_of(tree)) == {}
    assert set(kept.asked) == {"Sports", "Football", "EaglesNFL", "IceSkating", "Figure"}
    assert kept.queries == 1
    assert not kept.without_session().asked


def test_the_estimate_orders_topics_as_the_exact_observer_does_and_is_near_her():
    gaps, agree = [], []
    for number in range(40):
        draws = np.random.default_rng(number)
        tree = random_tree(16, draws)
        leaves = np.flatnonzero(tree.sizes == 1).astype(np.int32)
        interests = 3
        common = np.clip(1 - (1 - tree.priors[leaves]) ** interests, 0, 0.95)
        watching = Observer(tree=tree, topics=leaves, sensitive=leaves, common=common)
        held = watching.drawn(draws)
        queries = watching.asking(held, 10, draws, words=2)
        exact = watching.exactly([Sight(hits=hits) for hits in queries], None, leaves)
        kept = kept_of(tree, *(tree.ids[place] for place in leaves))
        for hits in queries:
            kept = kept.having_asked(weigh_query(tree, hits, interests))
        told = {each.topic: each.now for each in told_by_queries(tree, kept, hits_of(tree), interests)}
        mine = np.array([told.get(tree.ids[place], np.nan) for place in leaves])
        known = ~np.isnan(mine)
        gaps += np.abs(mine - exact)[known].tolist()
        agree.append(np.corrcoef(np.argsort(np.argsort(mine[known])), np.argsort(np.argsort(exact[known])))[0, 1])
    assert np.nanmean(agree) > 0.8
    assert np.mean(gaps) < 0.2

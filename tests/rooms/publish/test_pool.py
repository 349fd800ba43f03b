"""The pool release: what each variant lets in, what it cuts, and what it says about itself."""

from itertools import product
from math import exp, isclose, prod

import pytest
from small_logs import crowd, log_of, row

from aidos.core.guarantee import ApproxDP, NoGuarantee, PureDP, statement
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.rooms.publish.pool import PoolRelease, leak, threshold_for

FACTS = PublicFacts()
NO_NOISE = {"query_scale": 0.01, "click_scale": 0.01, "transition_scale": 0.01}
"""Noise of this scale is zero but for a chance of e^-100: the steps can be seen as they are."""


@pytest.fixture
def engine():
    with EmbeddedEngine(threads=1) as engine:
        yield engine


def bare(variant, **more):
    thresholds = {"query_threshold": 2, "click_threshold": 2, "transition_threshold": 2}
    return PoolRelease(**{"variant": variant, **NO_NOISE, **thresholds, **more})


def released(mechanism, log):
    tables = mechanism.run(log, Noise()).tables()
    return {name: {tuple(r.values())[:-1]: r["count"] for r in table.to_pylist()} for name, table in tables.items()}


def test_strict_releases_frequent_queries_of_the_pool_and_no_others(engine):
    log = log_of(engine, crowd(5, ["fern", "moss"]))
    found = released(bare("strict", pool=("fern", "lichen")), log)
    assert found["queries"] == {("fern",): 5}
    assert found["clicks"] == {}


def test_strict_shows_clicks_of_the_public_lists_only(engine):
    rows = crowd(4, ["fern"]) + [row(f"person{p}", 1, "fern", url) for p in range(4) for url in ("u1", "u2")]
    found = released(bare("strict", pool=("fern",), click_lists=(("fern", "u1"), ("moss", "u1"))), log_of(engine, rows))
    assert found["clicks"] == {("fern", "u1"): 4}


def test_transitions_need_both_queries_released(engine):
    log = log_of(engine, crowd(4, ["fern", "moss", "fern"]) + crowd(4, ["fern", "ivy"], "other"))
    found = released(bare("strict", pool=("fern", "moss")), log)
    assert found["transitions"] == {("fern", "moss"): 4, ("moss", "fern"): 4}


@pytest.mark.parametrize("variant", ["strict", "thresholded"])
def test_one_person_counts_no_more_than_the_limits(engine, variant):
    rows = [row("busy", minute, f"q{minute % 4}") for minute in range(40)]
    rows += [row("busy", minute, "q0", "u") for minute in range(40)]
    limits = {"queries_per_person": 6, "clicks_per_person": 3, "transitions_per_person": 20}
    lists = {"pool": ("q0", "q1", "q2", "q3"), "click_lists": (("q0", "u"),)}
    zero = {"query_threshold": 0, "click_threshold": 0, "transition_threshold": 0}
    found = released(bare(variant, **limits, **lists, **zero), log_of(engine, rows))
    assert sum(found["queries"].values()) == 6
    assert sum(found["clicks"].values()) == 3
    assert 0 < sum(found["transitions"].values()) <= 5


def test_strict_gives_noise_to_zeros_too(engine):
    pool = tuple(f"q{place}" for place in range(40))
    mechanism = PoolRelease(
        variant="strict",
        pool=pool,
        click_lists=tuple((query, "u") for query in pool),
        query_threshold=0,
        click_threshold=0,
        transition_threshold=0,
    )
    tables = mechanism.run(log_of(engine, [row("a", 0, "other")]), Noise(1)).tables()
    number = len(tables["queries"])
    assert 8 < number < 32
    assert 0 < len(tables["clicks"]) < number
    assert number * (number - 1) / 4 < len(tables["transitions"]) < number * (number - 1) * 3 / 4
    assert all(r["user_query"] != r["next_query"] for r in tables["transitions"].to_pylist())


def test_thresholded_takes_candidates_from_the_log_and_the_pool(engine):
    log = log_of(engine, crowd(5, ["fern", "moss"]) + crowd(2, ["secret"], "rare"))
    found = released(bare("thresholded", pool=("lichen",)), log)
    assert found["queries"] == {("fern",): 5, ("moss",): 5}
    assert found["transitions"] == {("fern", "moss"): 5}


def test_blocked_terms_keep_queries_out(engine):
    log = log_of(engine, crowd(5, ["fern care", "moss care"]))
    assert set(released(bare("thresholded", blocked_terms=("moss", "it's")), log)["queries"]) == {("fern care",)}


def test_as_published_drops_rare_queries_and_terms_of_one_query_and_shows_single_pairs(engine):
    rows = crowd(6, ["fern care", "fern"]) + crowd(4, ["care"], "few") + crowd(6, ["unique"], "many")
    rows += [row("victim", 0, "fern"), row("victim", 1, "fern care"), row("victim", 2, "fern care", "only")]
    found = released(bare("as-published"), log_of(engine, rows))
    assert set(found["queries"]) == {("fern",), ("fern care",)}
    assert found["transitions"] == {("fern care", "fern"): 6, ("fern", "fern care"): 1}
    assert found["clicks"] == {("fern care", "only"): 1}


def test_as_published_one_person_lets_another_persons_query_out(engine):
    others = [row(f"other{p}", 0, "fern") for p in range(4)] + crowd(9, ["fern care", "care"])
    mechanism = bare("as-published")
    assert ("fern",) not in released(mechanism, log_of(engine, others))["queries"]
    with_one = log_of(engine, [*others, row("flips it", 0, "fern")])
    assert released(mechanism, with_one)["queries"][("fern",)] == 5
    assert released(bare("thresholded"), log_of(engine, others))["queries"][("fern",)] == 4


def test_an_empty_log_gives_empty_tables_of_the_right_shape(engine):
    for variant in ("as-published", "thresholded"):
        tables = bare(variant).run(log_of(engine, []), Noise()).tables()
        assert [table.column_names for table in tables.values()] == [
            ["user_query", "count"],
            ["user_query", "object_id", "count"],
            ["user_query", "next_query", "count"],
        ]
        assert all(len(table) == 0 for table in tables.values())


def test_strict_promises_the_sum_of_its_tables():
    mechanism = PoolRelease(pool=("a",), click_lists=(("a", "u"),))
    assert mechanism.guarantee(FACTS) == PureDP(epsilon=10 / 30 + 10 / 30 + 5 / 15)
    assert set(mechanism.pieces(FACTS)) == {"queries", "clicks", "transitions"}


def test_tables_that_are_not_published_cost_nothing():
    assert isclose(PoolRelease(pool=("a",)).epsilon, 10 / 30 + 5 / 15)
    alone = PoolRelease(pool=("a",), queries_per_person=1, transitions_per_person=9)
    assert isclose(alone.epsilon, 1 / 30)
    assert PoolRelease(pool=("a",), queries_per_person=3, transitions_per_person=9).transitions_kept == 2


def test_the_papers_setting_comes_to_about_thirty():
    paper = {"queries_per_person": 100, "clicks_per_person": 100, "transitions_per_person": 0}
    strict = PoolRelease(pool=("a",), click_lists=(("a", "u"),), query_scale=10, click_scale=10, **paper)
    assert isclose(strict.epsilon, 20)  # a third term of 10 is saved: the count that decided is the one printed


def test_as_published_says_why_it_promises_nothing():
    guarantee = PoolRelease(variant="as-published").guarantee(FACTS)
    assert isinstance(guarantee, NoGuarantee)
    told = statement(guarantee)
    assert told.startswith("No guarantee: ")
    assert all(name in told for name in ("queries", "clicks", "transitions"))


def test_thresholded_sums_epsilon_and_delta():
    mechanism = PoolRelease(variant="thresholded")
    guarantee = mechanism.guarantee(FACTS)
    assert isinstance(guarantee, ApproxDP)
    assert isclose(guarantee.epsilon, 1)
    assert isclose(guarantee.delta, 2 * leak(10, 30.0, 500) + leak(5, 15.0, 250))
    assert guarantee.delta < 1e-6


def splits(total):
    if total == 0:
        yield ()
    for first in range(1, total + 1):
        yield from ((first, *rest) for rest in splits(total - first))


@pytest.mark.parametrize(("limit", "scale", "threshold"), [(1, 1.0, 5), (5, 2.0, 12), (6, 0.5, 9), (7, 8.0, 40)])
def test_the_leak_is_the_worst_split_of_the_limit(limit, scale, threshold):
    law = DiscreteLaplace(scale)
    worst = max(1 - prod(1 - law.tail(threshold - own) for own in split) for split in splits(limit))
    assert worst <= leak(limit, scale, threshold) <= worst * (1 + 1e-6)


def test_the_leak_is_below_the_simple_bound_and_grows_with_the_limit():
    for limit, scale in product((1, 10, 100), (1.0, 10.0)):
        threshold = limit + 20 * int(scale)
        simple = limit / 2 * exp((limit - threshold) / scale)
        assert leak(limit, scale, threshold) <= simple
        assert leak(limit, scale, threshold) <= leak(limit + 1, scale, threshold)
    assert leak(5, 10.0, 0) == 1.0


@pytest.mark.parametrize(("limit", "scale", "delta"), [(1, 1.0, 1e-6), (10, 30.0, 1e-7), (5, 0.2, 0.3), (3, 8.0, 0.9)])
def test_the_threshold_for_a_delta_is_the_smallest(limit, scale, delta):
    threshold = threshold_for(limit, scale, delta)
    assert leak(limit, scale, threshold) <= delta
    assert threshold == 0 or leak(limit, scale, threshold - 1) > delta


@pytest.mark.parametrize("delta", [0.0, 1.0, float("nan")])
def test_a_threshold_needs_a_delta_between_0_and_1(delta):
    with pytest.raises(ParameterError, match="delta must be"):
        threshold_for(1, 1.0, delta)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"variant": "strict"}, "public pool"),
        ({"variant": "loose"}, "as-published, strict, thresholded"),
        ({"variant": "thresholded", "query_scale": float("nan"), "queries_per_person": 0}, "queries_per_person"),
        ({"variant": "thresholded", "click_scale": 0.0}, "greater than 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(ParameterError, match=words):
        PoolRelease(**parameters)


def test_public_lists_may_be_files(engine, tmp_path):
    pool, lists = tmp_path / "pool.txt", tmp_path / "clicks.tsv"
    pool.write_text("fern\n\n moss \nfern\n")
    lists.write_text("fern\tu1\nmoss\tu2\n")
    rows = crowd(4, ["fern", "moss"]) + [row(f"person{p}", 5, "moss", "u2") for p in range(4)]
    found = released(bare("strict", pool=pool, click_lists=lists), log_of(engine, rows))
    assert found["queries"] == {("fern",): 4, ("moss",): 4}
    assert found["clicks"] == {("moss", "u2"): 4}


def test_a_bad_list_is_named_by_line_and_never_quoted(engine, tmp_path):
    lists = tmp_path / "clicks.tsv"
    lists.write_text("fern\tu1\nprivate thing\n")
    with pytest.raises(InputError, match="line 2") as caught:
        bare("strict", pool=("fern",), click_lists=lists).run(log_of(engine, []), Noise())
    assert "private" not in caught.value.message
    with pytest.raises(InputError, match="there is no file"):
        bare("strict", pool=tmp_path / "nowhere").run(log_of(engine, []), Noise())

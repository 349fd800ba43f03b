"""The pool release's numbers go with the log: the paper's on the paper's log, and in proportion elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.studies.utility.plan import AOL_ASKINGS, AOL_PEOPLE, PoolGrid, UtilityPlan, fit_grid
from aidos.studies.utility.poolstudy import AS_PUBLISHED, STRICT, pool_settings
from aidos.studies.utility.searchpage import tell_pool


def test_on_the_papers_log_they_are_the_papers():
    assert fit_grid(UtilityPlan(), AOL_PEOPLE, AOL_ASKINGS) == PoolGrid()
    assert PoolGrid().epsilon == 30


def test_a_tenth_of_the_people_has_a_tenth_of_noise_and_threshold_and_pays_ten_times():
    tenth = fit_grid(UtilityPlan(), AOL_PEOPLE // 10, AOL_ASKINGS // 10)
    assert tenth.noise_scales == (1, 5, 10, 50)
    assert tenth.thresholds == (1, 10, 50)
    assert (tenth.usual_noise, tenth.usual_threshold, tenth.limit) == (1, 50, 100)
    assert tenth.epsilon == pytest.approx(300)


def test_people_who_ask_half_as_often_have_half_the_limit():
    half = fit_grid(UtilityPlan(), AOL_PEOPLE, AOL_ASKINGS // 2)
    assert (half.usual_threshold, half.limit, half.epsilon) == (250, 50, 30)


def test_a_tiny_log_stops_at_a_threshold_of_five():
    tiny = fit_grid(UtilityPlan(), 100, 3_000)
    assert (tiny.usual_threshold, tiny.usual_noise) == (5, 0.1)
    assert tiny.thresholds == (1, 5)


def test_what_is_named_stays_as_it_is_named():
    plan = UtilityPlan(noise_scales=(10.0,), thresholds=(500,), usual_noise=10.0, usual_threshold=500, pool_limit=7)
    grid = fit_grid(plan, 1_000, 20_000)
    assert (grid.noise_scales, grid.thresholds) == ((10.0,), (500,))
    assert (grid.usual_noise, grid.usual_threshold, grid.limit) == (10.0, 500, 7)
    mixed = fit_grid(UtilityPlan(usual_threshold=500), 1_000, 20_000)
    assert (mixed.usual_threshold, mixed.usual_noise) == (500, 0.1)


@given(people=st.integers(1, 10**7), each=st.integers(1, 1_000))
def test_noise_keeps_its_share_of_the_threshold_at_every_size(people, each):
    grid = fit_grid(UtilityPlan(), people, people * each)
    paper = PoolGrid()
    assert grid.usual_noise / grid.usual_threshold == pytest.approx(paper.usual_noise / paper.usual_threshold, rel=0.1)
    assert grid.noise_scales == tuple(sorted(set(grid.noise_scales)))
    assert grid.thresholds == tuple(sorted(set(grid.thresholds)))
    assert min(grid.thresholds) >= 1
    assert grid.limit >= 1
    tried = pool_settings(grid, "as-published")
    assert (grid.usual_noise, grid.usual_threshold) in {(one.noise_scale, one.threshold) for one in tried}
    assert {one.mechanism for one in tried} == {AS_PUBLISHED}
    assert {one.mechanism for one in pool_settings(grid, "strict")} == {STRICT}


def test_the_scaling_is_said():
    told = tell_pool(fit_grid(UtilityPlan(), 10_000, 600_000))
    assert "K = 500 is 14, b = 10 is 0.29 and q_f = 100 is 190" in told
    assert "21,011,340" in told

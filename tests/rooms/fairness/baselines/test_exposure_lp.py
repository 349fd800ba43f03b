import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standings import geometric, standing_of

from aidos.errors import ParameterError
from aidos.rooms.fairness.programs import ExposureProgram, decompose, exposure_matrix
from aidos.rooms.fairness.rankings import discounts


def mixed(mixture, shape):
    matrix = np.zeros(shape)
    for order, probability in zip(mixture.orders, mixture.probabilities, strict=True):
        assert len(set(order.tolist())) == shape[1]
        matrix[order, np.arange(shape[1])] += probability
    return matrix


@st.composite
def matrices(draw):
    """Mixtures of random orders: every matrix of this kind is one."""
    rows = draw(st.integers(1, 9))
    columns = draw(st.integers(1, rows))
    parts = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    matrix = np.zeros((rows, columns))
    for share in rng.dirichlet(np.full(parts, draw(st.sampled_from([0.05, 1.0])))):
        matrix[rng.permutation(rows)[:columns], np.arange(columns)] += share
    return matrix


@given(matrices())
def test_the_mixture_is_the_matrix(matrix):
    mixture = decompose(matrix)
    assert mixture.probabilities.min() > 0
    assert mixture.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert mixed(mixture, matrix.shape) == pytest.approx(matrix, abs=1e-9)


@pytest.mark.parametrize("wrong", [[[0.5], [0.4]], [[1.2], [-0.2]], [[1.0, 1.0], [0.0, 0.0]]])
def test_what_is_no_matrix_of_probabilities_is_refused(wrong):
    with pytest.raises(ParameterError):
        decompose(np.array(wrong))


def test_attention_follows_relevance_exactly_where_it_can():
    standing = standing_of(np.arange(20, 0, -1), positions=3)
    matrix = exposure_matrix(standing.relevance, standing.gains, standing.attention, np.arange(20))
    assert matrix @ standing.attention == pytest.approx(standing.relevance, abs=1e-8)
    assert mixed(decompose(matrix), matrix.shape) == pytest.approx(matrix, abs=1e-9)


def test_where_nothing_is_proportional_the_deviation_is_least():
    # Nobody can have more than the best position gives, and all attention has to go somewhere.
    relevance, attention = np.array([0.9, 0.1, 0.0]), geometric(2)
    matrix = exposure_matrix(relevance, 2**relevance - 1, attention, np.arange(3))
    assert np.abs(matrix @ attention - relevance).sum() == pytest.approx(2 * (0.9 - 2 / 3), abs=1e-8)
    assert matrix[0] == pytest.approx([1, 0], abs=1e-8)


def test_groups_get_what_they_merit_at_the_best_quality():
    standing = standing_of([5, 4, 3, 2, 1, 1], positions=3)
    members = np.array([0, 1, 0, 1, 0, 1])
    matrix = exposure_matrix(standing.relevance, standing.gains, standing.attention, members)
    exposure, merit = (np.bincount(members, each) for each in (matrix @ standing.attention, standing.relevance))
    assert exposure == pytest.approx(merit, abs=1e-8)
    alone = exposure_matrix(standing.relevance, standing.gains, standing.attention, np.arange(6))
    dcg = [float(standing.gains @ each @ discounts(3)) for each in (matrix, alone)]
    # Being fair to groups asks for less than being fair to everybody, so it costs less quality.
    assert dcg[0] > dcg[1] + 1e-6


@given(st.lists(st.integers(0, 5), min_size=3, max_size=8).filter(any), st.integers(0, 3))
@settings(max_examples=25)
def test_a_draw_is_a_ranking_and_repeats_itself(relevance, rankings):
    standing = standing_of(relevance, positions=3, rankings=rankings)
    placed = ExposureProgram(seed=7).place(standing)
    assert len(set(placed.tolist())) == 3
    assert placed.tolist() == ExposureProgram(seed=7).place(standing).tolist()


def test_draws_have_the_promised_attention_on_average():
    received = np.zeros(6)
    for number in range(1500):
        standing = standing_of([6, 5, 4, 3, 2, 1], positions=2, rankings=number)
        received[ExposureProgram().place(standing)] += standing.attention
    assert received / 1500 == pytest.approx(standing.relevance, abs=0.03)


def test_only_the_candidates_are_drawn():
    drawn = set()
    for number in range(200):
        standing = standing_of(np.ones(30), positions=2, rankings=number, groups=[0, 1] * 15)
        drawn |= set(ExposureProgram(candidates=5).place(standing).tolist())
    assert drawn <= set(range(5))


@pytest.mark.parametrize("wrong", [{"candidates": 0}, {"seed": -1}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        ExposureProgram(**wrong)

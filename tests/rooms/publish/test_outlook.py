"""What is said before anything is spent, against what the mechanisms do."""

import sys
from pathlib import Path

import pyarrow as pa
import pytest

from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.jobs.desk import Desk
from aidos.jobs.recipe import Recipe
from aidos.rooms.publish.catalogue import build_release
from aidos.rooms.publish.outlook import ITEMS, RANKS, SHARES, needed_people, outlook, refuse_next_to_nothing

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from outlook import measure, sample_log

MECHANISMS = (
    "steered-counts",
    "count-gaussian",
    "laplace-threshold",
    "zealous",
    "weighted-gaussian",
    "policy-gaussian",
    "truncated-geometric",
)
RUNS = 60
ITEMS_EACH = 4


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=1) as opened:
        yield opened


def passes(engine, mechanism, people):
    """How often an item of so many people passes, in sixty runs; everybody has as many items as count."""
    rows = [(f"p{number}", f"item {item}") for number in range(people) for item in range(ITEMS_EACH)]
    table = engine.table(pa.table({"person": [person for person, _ in rows], "item": [item for _, item in rows]}))
    seen = sum(len(mechanism.run(table, Noise(seed))) for seed in range(RUNS // ITEMS_EACH))
    return seen / (RUNS // ITEMS_EACH * ITEMS_EACH)


@pytest.mark.parametrize("name", MECHANISMS)
def test_an_item_passes_as_often_as_not_and_nearly_always_where_it_is_said(engine, name):
    parameters = {"epsilon": 4.0, "delta": 1e-3, "items_per_person": ITEMS_EACH}
    built = build_release(Recipe(mechanism=name, parameters=parameters)).mechanism
    needed = needed_people(built.calibration(PublicFacts()), ITEMS_EACH)
    assert 0.1 <= passes(engine, built, round(needed.half)) <= 0.9
    assert passes(engine, built, round(needed.nearly_always) + 1) >= 0.9
    assert passes(engine, built, round(needed.half - (needed.nearly_always - needed.half))) <= 0.1


def test_rounds_need_what_their_last_round_needs():
    calibration = {"sigma_1": 9.0, "threshold_1": 50.0, "sigma_3": 2.0, "threshold_3": 10.0, "sigma_2": 4.0}
    calibration["threshold_2"] = 20.0
    needed = needed_people(calibration, 4)
    assert needed.half == 20
    assert needed.nearly_always == pytest.approx(2 * (10 + 2 * 2.326), rel=1e-3)


def test_mechanisms_without_a_threshold_are_not_spoken_of():
    assert needed_people({"scale": 3.0}, 10) is None
    assert (
        outlook(build_release(Recipe(mechanism="click-counts", items=(), results="list.tsv")), PublicFacts(people=10))
        == []
    )


def usual(people, **recipe):
    return [one.usual for one in outlook(build_release(Recipe(**recipe)), PublicFacts(people=people))]


def test_more_people_and_more_epsilon_give_more():
    by_people = [usual(people)[0] for people in (200, 2000, 20_000, 200_000, 2_000_000)]
    assert by_people[0] == 0
    assert by_people == sorted(set(by_people))
    by_epsilon = [usual(5000, parameters={"epsilon": epsilon})[0] for epsilon in (0.5, 1.0, 2.0, 4.0)]
    assert by_epsilon == sorted(set(by_epsilon))
    assert usual(None) == [None]


@pytest.mark.parametrize(
    "name",
    ["count-gaussian", *(pytest.param(one, marks=pytest.mark.slow) for one in ("steered-counts", "steered-rounds"))],
)
def test_the_guess_is_what_the_sample_world_gives(engine, name):
    log = sample_log(engine, "2000")
    for epsilon in (2.0, 8.0):
        parameters = {"epsilon": epsilon, "delta": 1e-5}
        recipe = Recipe(mechanism=name, items=("queries", "clicks"), parameters=parameters)
        guessed = usual(2000, mechanism=name, items=recipe.items, parameters=parameters)
        for guess, made in zip(guessed, build_release(recipe).run(log, Noise(1)).values(), strict=True):
            assert guess / 2 - 3 <= len(made) <= guess * 2 + 3


@pytest.mark.parametrize("kind", ["queries", "pairs"])
def test_the_shares_are_those_of_the_sample_world(engine, kind):
    average, shares = measure(sample_log(engine, "2000"), kind)
    assert average == pytest.approx(ITEMS[kind], rel=0.1)
    for rank, share, there in zip(RANKS, shares, SHARES[kind], strict=True):
        if rank <= 50:  # rarer items have few of two thousand people
            assert share == pytest.approx(there, rel=0.3)


@pytest.mark.parametrize(
    ("people", "recipe", "refused"),
    [
        (230, {"parameters": {"epsilon": 2.0}}, True),
        (891, {"parameters": {"epsilon": 4.0}}, True),
        (100_000, {}, False),
        (50, {"person": "who", "columns": ("what",), "items": ()}, True),
        (5000, {"person": "who", "columns": ("what",), "items": ()}, False),
        (4000, {"mechanism": "pool-release", "items": (), "parameters": {"variant": "thresholded"}}, False),
        (100, {"mechanism": "pool-release", "items": (), "parameters": {"variant": "thresholded"}}, True),
    ],
)
def test_next_to_nothing_is_refused_by_public_numbers(people, recipe, refused):
    built = build_release(Recipe(**recipe))
    expected = outlook(built, PublicFacts(people=people))
    if not refused:
        refuse_next_to_nothing(built, expected, Desk(asked="aidos publish"))
        return
    with pytest.raises(ParameterError, match="next to nothing") as caught:
        refuse_next_to_nothing(built, expected, Desk(asked="aidos publish"))
    assert "--yes" in caught.value.hint

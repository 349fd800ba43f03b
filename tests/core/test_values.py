"""The small nouns: rankings, noise, checks, records, progress."""

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le, Lt

from aidos.core.checks import check_parameters
from aidos.core.noise import Noise
from aidos.core.progress import SILENT
from aidos.core.ranking import Ranking
from aidos.core.records import SCHEMAS
from aidos.errors import ParameterError


@dataclass(frozen=True)
class Limits:
    epsilon: Annotated[float, Gt(0)] = 1.0
    share: Annotated[float, Ge(0), Le(1)] = 0.5
    delta: Annotated[float, Lt(1)] = 0.1
    limit: Annotated[int | None, Gt(0)] = None
    half_life: Annotated[float, Gt(0)] | None = None
    mode: Literal["fast", "exact"] = "fast"
    maybe: Literal[1, 2] | None = None

    def __post_init__(self):
        check_parameters(self)


def test_all_bad_parameters_are_named_at_once():
    with pytest.raises(ParameterError) as caught:
        Limits(epsilon=0, share=1.5, delta=float("nan"), limit=0)
    message = str(caught.value)
    for words in ("epsilon must be greater than 0", "share must be at most 1", "delta must be finite", "limit must"):
        assert words in message


def test_good_parameters_pass_and_none_means_not_given():
    assert Limits(limit=None).limit is None
    assert Limits(share=0).share == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"epsilon": "one"}, "epsilon must be a number, got 'one'"),
        ({"limit": 2.5}, "limit must be a whole number, got 2.5"),
        ({"limit": True}, "limit must be a whole number, got True"),
        ({"half_life": [1.0]}, "half_life must be a number, got a list"),
        ({"epsilon": None}, "epsilon must be a number, got None"),
    ],
)
def test_values_of_another_kind_are_told_and_not_compared(parameters, words):
    with pytest.raises(ParameterError, match=words):
        Limits(**parameters)


def test_numbers_of_numpy_are_numbers():
    assert Limits(limit=np.int64(3), epsilon=np.float32(0.5)).limit == 3


def test_a_text_is_no_list():
    @dataclass(frozen=True)
    class Named:
        names: tuple[str, ...] = ()

        def __post_init__(self):
            check_parameters(self)

    with pytest.raises(ParameterError, match="names must be a list, got 'one'"):
        Named(names="one")
    with pytest.raises(ParameterError, match="names must be a list, each a text, got a tuple"):
        Named(names=("one", 2))


def test_limits_hold_where_none_is_allowed_too():
    assert Limits(half_life=2.0).half_life == 2.0
    with pytest.raises(ParameterError, match="half_life must be greater than 0"):
        Limits(half_life=-1.0)


def test_limits_hold_for_each_of_a_tuple():
    @dataclass(frozen=True)
    class Several:
        shares: tuple[Annotated[float, Gt(0), Le(1)], ...] = ()

        def __post_init__(self):
            check_parameters(self)

    Several(shares=(0.5, 1.0))
    with pytest.raises(ParameterError, match="each of shares must be at most 1") as caught:
        Several(shares=(0.5, 2.0, float("nan")))
    assert "each of shares must be finite" in str(caught.value)


def test_only_the_choices_of_a_literal_are_taken():
    assert Limits(mode="exact", maybe=2).maybe == 2
    with pytest.raises(ParameterError, match=r"mode must be one of fast, exact, got 'slow'; maybe must be one of 1, 2"):
        Limits(mode="slow", maybe=3)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_infinite_values_are_refused(value):
    with pytest.raises(ParameterError, match="finite"):
        Limits(epsilon=value)


def test_ranking_knows_positions_and_refuses_nonsense():
    ranking = Ranking(("a", "b", "c"), (3.0, 2.0, 2.0))
    assert (ranking.position("b"), ranking.position("z"), len(ranking)) == (2, None, 3)
    assert ranking.top(2) == Ranking(("a", "b"), (3.0, 2.0))
    for ids, scores in [
        (("a", "a"), ()),
        (("a", "b"), (1.0,)),
        (("a", "b"), (1.0, 2.0)),
        (("a", "b"), (1.0, float("nan"))),
    ]:
        with pytest.raises(ParameterError):
            Ranking(ids, scores)


def test_seeded_noise_repeats_and_says_so_while_the_systems_does_not():
    assert Noise(7).bits.getrandbits(64) == Noise(7).bits.getrandbits(64)
    assert Noise(7).is_repeatable
    assert "7" in Noise(7).source
    assert not Noise().is_repeatable
    # Equal draws of 128 bits: probability 2**-128.
    assert Noise().bits.getrandbits(128) != Noise().bits.getrandbits(128)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Noise().seed = 3


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=lambda schema: schema.name)
def test_schemas_are_consistent(schema):
    names = schema.names()
    assert len(set(names)) == len(names)
    assert not schema.person or schema.column(schema.person).required
    assert all(column.about for column in schema.columns)


def test_silent_progress_takes_everything():
    with SILENT.task("work", total=None, unit="rows") as task:
        task.advance(1)
        task.move_to(3)
        assert task is not None

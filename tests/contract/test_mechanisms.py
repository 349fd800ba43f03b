"""One contract for every mechanism of the catalogue."""

import dataclasses
import inspect
import pickle
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from aidos.core.guarantee import Guarantee, KAnonymity, NoGuarantee, QualityFloor, statement
from aidos.core.mechanism import PublicFacts
from aidos.errors import ParameterError
from aidos.jobs.recipe import name_of
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.publish.catalogue import BUILT_IN, find_mechanism, mechanism_names

FACTS = PublicFacts()
NEEDED = {"pool-release": {"pool": ("weather tomorrow",)}}
"""What a mechanism cannot do without: everything else has a default."""
IMPOSSIBLE = {
    "epsilon": (0.0, -1.0, float("nan"), float("inf")),
    "delta": (0.0, 1.0, -0.1, float("nan")),
    "items_per_person": (0, -3),
}
PRIVATE = tuple({*get_args(Guarantee)} - {NoGuarantee, KAnonymity, QualityFloor})
"""The guarantees that have a price."""
KINDS = {name: find_mechanism(name) for name in sorted(BUILT_IN)} | {name_of(EquityOfAttention): EquityOfAttention}
"""What promises something: everything that publishes, and the re-ranker with its floor."""


def made(name):
    return KINDS[name](**NEEDED.get(name, {}))


def limited(name):
    """The fields that have limits."""
    return {field.name for field in dataclasses.fields(KINDS[name]) if "Annotated" in str(field.type)}


def having(*fields):
    """The mechanisms that have limits for all of these fields."""
    return [name for name in KINDS if {*fields} <= limited(name)]


def promising(*kinds):
    """The mechanisms that promise something of these kinds."""
    return [name for name in KINDS if isinstance(made(name).guarantee(FACTS), kinds)]


def choices(name):
    """The fields that take one of a few words."""
    return [field for field, hint in get_type_hints(KINDS[name]).items() if get_origin(hint) is Literal]


every_mechanism = pytest.mark.parametrize("name", KINDS)


@every_mechanism
def test_defaults_are_valid_and_make_equal_values(name):
    assert made(name) == made(name)
    assert hash(made(name)) == hash(made(name))
    assert pickle.loads(pickle.dumps(made(name))) == made(name)


@every_mechanism
def test_it_is_frozen_and_has_slots(name):
    mechanism = made(name)
    for field in dataclasses.fields(mechanism):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(mechanism, field.name, 1)
    assert not hasattr(mechanism, "__dict__")


@every_mechanism
def test_fields_are_named_never_counted(name):
    with pytest.raises(TypeError):
        KINDS[name](1.0)


@every_mechanism
def test_unknown_parameters_are_refused(name):
    with pytest.raises(TypeError, match="no_such_parameter"):
        KINDS[name](no_such_parameter=1)


def test_every_field_is_documented():
    undocumented = []
    for kind in KINDS.values():
        declared = [base for base in kind.__mro__ if dataclasses.is_dataclass(base)]
        source = "".join(inspect.getsource(base) for base in declared)
        for field in dataclasses.fields(kind):
            after = [rest.partition("\n")[2].lstrip() for rest in source.split(f"    {field.name}: ")[1:]]
            if not any(rest.startswith('"""') for rest in after):
                undocumented.append(f"{kind.__name__}.{field.name}")
    assert undocumented == []


@every_mechanism
def test_the_guarantee_needs_no_data_and_speaks_in_a_sentence(name):
    promised = made(name).guarantee(FACTS)
    assert isinstance(promised, Guarantee)
    assert statement(promised).endswith(".")
    assert promised == made(name).guarantee(FACTS)


@pytest.mark.parametrize("name", promising(QualityFloor))
def test_the_floor_of_the_parameters_is_the_floor_that_is_promised(name):
    assert made(name).guarantee(FACTS).at_least == made(name).quality_floor


@pytest.mark.parametrize("name", [name for name in promising(*PRIVATE) if hasattr(made(name), "epsilon")])
def test_no_more_is_spent_than_the_parameters_say(name):
    promised = made(name).guarantee(FACTS)
    assert promised.epsilon <= made(name).epsilon
    assert getattr(promised, "delta", 0.0) <= getattr(made(name), "delta", 0.0)


@pytest.mark.parametrize(("name", "field"), [(name, field) for field in IMPOSSIBLE for name in having(field)], ids=str)
def test_impossible_values_are_refused_by_name(name, field):
    for value in IMPOSSIBLE[field]:
        with pytest.raises(ParameterError, match=field):
            KINDS[name](**{field: value})


@pytest.mark.parametrize("name", having(*IMPOSSIBLE))
def test_all_problems_are_named_at_once(name):
    with pytest.raises(ParameterError, match=r"epsilon.*delta.*items_per_person"):
        KINDS[name](epsilon=-1.0, delta=2.0, items_per_person=0)


@pytest.mark.parametrize(("name", "choice"), [(name, choice) for name in KINDS for choice in choices(name)])
def test_a_choice_takes_its_words_alone(name, choice):
    with pytest.raises(ParameterError, match=choice):
        KINDS[name](**{choice: "no such choice"})


@every_mechanism
def test_it_can_be_run(name):
    assert list(inspect.signature(KINDS[name].run).parameters) == ["self", "data", "noise"]


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if hasattr(kind, "calibration")])
def test_it_can_be_calibrated(name):
    assert all(isinstance(value, int | float) for value in made(name).calibration(FACTS).values())


def test_every_rule_has_mechanisms_it_is_about():
    for field in IMPOSSIBLE:
        assert having(field)
    assert len(promising(*PRIVATE)) + len(promising(QualityFloor, NoGuarantee, KAnonymity)) == len(KINDS)
    assert promising(QualityFloor)


def test_a_recipe_calls_a_mechanism_by_the_name_of_its_class():
    assert {name: name_of(kind) for name, kind in KINDS.items()} == {name: name for name in KINDS}


def test_names_are_complete_and_unknown_ones_get_a_hint():
    assert set(BUILT_IN) <= set(mechanism_names())
    with pytest.raises(ParameterError, match="no mechanism called count-gausian") as caught:
        find_mechanism("count-gausian")
    assert "count-gaussian" in caught.value.hint
    with pytest.raises(ParameterError) as caught:
        find_mechanism("xyzzy")
    assert "rounds" in caught.value.hint


def test_packages_join_by_entry_points_but_cannot_take_a_name_over(monkeypatch):
    class Entry:
        def __init__(self, name, value):
            self.name, self.value = name, value

    theirs = [Entry("theirs", "fractions:Fraction"), Entry("rounds", "fractions:Fraction")]
    monkeypatch.setattr("aidos.rooms.publish.catalogue.entry_points", lambda group: theirs)
    assert find_mechanism("theirs").__name__ == "Fraction"
    assert find_mechanism("rounds").__name__ == "Rounds"
    assert "theirs" in mechanism_names()

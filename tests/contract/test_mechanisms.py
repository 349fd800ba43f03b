"""One contract for every mechanism of the catalogue."""

import dataclasses
import inspect
import pickle
from typing import Literal, get_origin, get_type_hints

import pytest

from aidos.app.catalogue import BUILT_IN, find_mechanism, mechanism_names
from aidos.core.guarantee import Guarantee, KAnonymity, NoGuarantee, QualityFloor, statement
from aidos.core.mechanism import PublicFacts
from aidos.errors import ParameterError

FACTS = PublicFacts()
NEEDED = {"pool-release": {"pool": ("weather tomorrow",)}}
"""What a mechanism cannot do without: everything else has a default."""


@pytest.fixture(params=sorted(BUILT_IN))
def name(request):
    return request.param


@pytest.fixture
def kind(name):
    return find_mechanism(name)


@pytest.fixture
def make(name, kind):
    return lambda: kind(**NEEDED.get(name, {}))


def test_defaults_are_valid_and_make_equal_values(make):
    assert make() == make()
    assert hash(make()) == hash(make())
    assert pickle.loads(pickle.dumps(make())) == make()


def test_it_is_frozen_and_has_slots(kind, make):
    made = make()
    for field in dataclasses.fields(kind):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, field.name, 1)
    assert not hasattr(made, "__dict__")


def test_fields_are_named_never_counted(kind):
    with pytest.raises(TypeError):
        kind(1.0)


def test_unknown_parameters_are_refused(kind):
    with pytest.raises(TypeError, match="no_such_parameter"):
        kind(no_such_parameter=1)


def test_every_field_is_documented(kind):
    declared = [base for base in kind.__mro__ if dataclasses.is_dataclass(base)]
    source = "".join(inspect.getsource(base) for base in declared)
    for field in dataclasses.fields(kind):
        after = source.split(f"    {field.name}: ", 1)[1].split("\n", 1)[1]
        assert after.lstrip().startswith('"""'), f"{kind.__name__}.{field.name}"


def test_the_guarantee_needs_no_data_and_speaks_in_a_sentence(make):
    promised = make().guarantee(FACTS)
    assert isinstance(promised, Guarantee)
    assert statement(promised).endswith(".")
    assert promised == make().guarantee(FACTS)


def test_what_the_parameters_say_is_what_is_promised(make):
    made = make()
    promised = made.guarantee(FACTS)
    if isinstance(promised, QualityFloor):
        assert promised.at_least == made.quality_floor
        return
    if isinstance(promised, NoGuarantee | KAnonymity) or not hasattr(made, "epsilon"):
        return
    assert promised.epsilon <= made.epsilon
    assert getattr(promised, "delta", 0.0) <= getattr(made, "delta", 0.0)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("epsilon", (0.0, -1.0, float("nan"), float("inf"))),
        ("delta", (0.0, 1.0, -0.1, float("nan"))),
        ("items_per_person", (0, -3)),
    ],
)
def test_impossible_values_are_refused_by_name(kind, field, values):
    types = {one.name: str(one.type) for one in dataclasses.fields(kind)}
    if "Annotated" not in types.get(field, ""):
        pytest.skip(f"{kind.__name__} has no such limit")
    for value in values:
        with pytest.raises(ParameterError, match=field):
            kind(**{field: value})


def test_all_problems_are_named_at_once(kind):
    names = {one.name for one in dataclasses.fields(kind)}
    if not {"epsilon", "delta", "items_per_person"} <= names:
        pytest.skip("needs three fields with limits")
    with pytest.raises(ParameterError, match=r"epsilon.*delta.*items_per_person"):
        kind(epsilon=-1.0, delta=2.0, items_per_person=0)


def test_a_choice_takes_its_words_alone(kind):
    choices = [name for name, hint in get_type_hints(kind).items() if get_origin(hint) is Literal]
    for choice in choices:
        with pytest.raises(ParameterError, match=choice):
            kind(**{choice: "no such choice"})


def test_it_can_be_run_and_calibrated(kind, make):
    assert list(inspect.signature(kind.run).parameters) == ["self", "data", "noise"]
    if hasattr(kind, "calibration"):
        assert all(isinstance(value, int | float) for value in make().calibration(FACTS).values())


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
    monkeypatch.setattr("aidos.app.catalogue.entry_points", lambda group: theirs)
    assert find_mechanism("theirs").__name__ == "Fraction"
    assert find_mechanism("rounds").__name__ == "Rounds"
    assert "theirs" in mechanism_names()

"""One ledger for one source: recognised states go on, overlapping people are refused, racing processes make one."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from aidos.account.budget import Budget
from aidos.account.ledger import FileLedger
from aidos.account.lineage import DataSet
from aidos.account.opening import extend_ledger, open_ledger, recognise_data
from aidos.core.guarantee import ApproxDP
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError

BUDGET = Budget(epsilon=3, delta=1e-5)
LINES = [f"{number}\tquery {number}" for number in range(100)]


@pytest.fixture
def written(tmp_path):
    def write(lines, name="log.tsv", table=None):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return DataSet((path,), table=table, person="who")

    return write


def test_a_log_that_grew_goes_on_in_its_ledger(tmp_path, written):
    ledger = open_ledger(tmp_path / "l", BUDGET, written(LINES))
    assert ledger.state().source == "log"
    assert recognise_data(ledger, written(LINES)) is False
    grown = written([*LINES, "101\tone more"])
    assert recognise_data(ledger, grown) is True
    assert recognise_data(ledger, grown) is False
    assert len(ledger.state().parts) == 2
    with pytest.raises(InputError, match="another data set"):
        recognise_data(ledger, written(["quite", "different"]))


@pytest.mark.parametrize("name", ["copy.csv", "elsewhere/log.tsv"])
def test_no_second_ledger_opens_for_a_state_of_the_source(tmp_path, written, name):
    first = open_ledger(tmp_path / "l", BUDGET, written(LINES))
    (tmp_path / "ledgers").mkdir()
    for lines in (LINES, [*LINES, "one more"], LINES[1:], LINES[::-1]):
        with pytest.raises(ParameterError, match="already") as caught:
            open_ledger(tmp_path / "ledgers" / "second", BUDGET, written(lines, name), disjoint=True)
        assert str(first.path) in str(caught.value)
    assert os.listdir(tmp_path / "ledgers") == []


def test_people_of_another_ledger_are_refused_unless_declared_others(tmp_path, written):
    with EmbeddedEngine() as engine:
        table = engine.table(pa.table({"who": [f"u{number}" for number in range(50)]}))
        first = open_ledger(tmp_path / "l", BUDGET, written(LINES, table=table))
        later = written(["all", "lines", "differ"], "next.tsv", table=table)
        with pytest.raises(ParameterError, match="100% of the people") as caught:
            open_ledger(tmp_path / "second", BUDGET, later)
        assert "--disjoint" in caught.value.hint
        assert "extend" in caught.value.hint
        second = open_ledger(tmp_path / "second", BUDGET, later, disjoint=True)
        assert second.state().disjoint == (first.state().id,)
        others = engine.table(pa.table({"who": ["v1", "v2"]}))
        open_ledger(tmp_path / "third", BUDGET, written(["a", "b"], "third.tsv", table=others))


def test_a_declared_state_is_recognised_and_belongs_to_one_ledger(tmp_path, written):
    ledger = open_ledger(tmp_path / "l", BUDGET, written(LINES))
    other = open_ledger(tmp_path / "m", BUDGET, written(["x", "y"], "other.tsv"))
    converted = written([line.replace("\t", ",") for line in LINES], "log.csv")
    with pytest.raises(InputError, match="extend"):
        try:
            recognise_data(ledger, converted)
        except InputError as error:
            raise InputError(error.hint) from error
    assert extend_ledger(ledger, converted) is True
    assert extend_ledger(ledger, converted) is False
    assert recognise_data(ledger, converted) is False
    with pytest.raises(ParameterError, match="already"):
        extend_ledger(other, converted)
    # A log that holds those of two ledgers is charged to neither.
    with pytest.raises(ParameterError, match="already"):
        recognise_data(ledger, written([*LINES, "x", "y"], "both.tsv"))


def test_charges_outlive_new_states(tmp_path, written):
    ledger = open_ledger(tmp_path / "l", BUDGET, written(LINES))
    ledger.charge(ApproxDP(epsilon=1, delta=1e-6))
    recognise_data(ledger, written(LINES[:-1]))
    ledger.charge(ApproxDP(epsilon=1, delta=1e-6))
    assert FileLedger(ledger.path).state().budget == BUDGET
    assert len(ledger.state().charges) == 2


OPENING = """
import sys
from pathlib import Path
from aidos.account.budget import Budget
from aidos.account.lineage import DataSet
from aidos.account.opening import open_ledger
from aidos.errors import ParameterError
data = DataSet((Path(sys.argv[1]),))
sys.stdin.readline()
try:
    open_ledger(Path(sys.argv[2]), Budget(epsilon=1, delta=1e-6), data)
    print("opened")
except ParameterError as error:
    print("refused")
"""


@pytest.mark.parametrize("own_registries", [False, True])
@pytest.mark.parametrize("races", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_of_many_processes_one_opens_the_ledger(tmp_path, written, own_registries, races):
    data = written(LINES)
    for race in range(races):
        place = tmp_path / f"race{race}"
        place.mkdir()
        children = []
        for number in range(6):
            registry = tmp_path / f"registry{race}{number if own_registries else ''}"
            children.append(
                subprocess.Popen(
                    [sys.executable, "-c", OPENING, *map(str, (data.paths[0], place))],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ, "AIDOS_REGISTRY": str(registry)},
                )
            )
        for child in children:
            child.stdin.write("go\n")
            child.stdin.flush()
        said = [child.communicate(timeout=60)[0].strip() for child in children]
        assert sorted(said) == ["opened"] + ["refused"] * 5
        assert len(list(place.glob("*"))) == 1


OLD = """\
{"line":1,"kind":"opened","ledger":1,"key":"115cd50d19834bd7a1aa5a7a709e447eb55b6dbe8236fa1074ce36d9ba726a01","data":"84901a4b3956ec29e3dc4ae1a4aebd96aceb30869de8fe7ada8bfdf51400fbae","budget":{"epsilon":3,"delta":1e-05,"unit":{"noun":"person","column":"client_id"},"neighbours":"add-or-remove-one","accountant":"gaussian"},"time":"2026-11-17T19:43:05+00:00","chain":"fae554b269fbd6dd060bfb6b18e3aa7fdb8b16ce800b6aaa8ff00cf8bccb14ae"}
{"line":2,"kind":"charged","guarantee":{"type":"ApproxDP","epsilon":1,"delta":1e-06,"unit":{"noun":"person","column":"client_id"},"neighbours":"add-or-remove-one"},"gaussian":{"mu":0.23,"delta":5e-07},"about":"queries","time":"2026-11-17T19:43:05+00:00","chain":"9c580cbc3567487b20fb33e97caae7f52e6f115e75bf79118eafba664a46b3a3"}
{"line":3,"kind":"settled","charge":2,"outcome":"published","time":"2026-11-17T19:43:05+00:00","chain":"e92bc64eadbb3c74fcd153bd3a3dbb388648d4afb21b9474b79db8a8b052bbc3"}
{"line":4,"kind":"charged","guarantee":{"type":"ApproxDP","epsilon":0.5,"delta":1e-06,"unit":{"noun":"person","column":"client_id"},"neighbours":"add-or-remove-one"},"gaussian":null,"about":"","time":"2026-11-17T19:43:05+00:00","chain":"88e48a49e7210e1bc62da8697b1ac4d1b31979c2a4b25b9553da0c0debd22213"}
"""


def test_a_ledger_of_the_first_format_goes_on(tmp_path, written):
    path = tmp_path / "old.ledger"
    path.write_text(OLD)
    path.chmod(0o600)
    lines = ["17\tfern care", "18\tfern", "19\tmoss"]
    ledger = FileLedger(path)
    # What was spent is not lost, and is at most what the first format said.
    assert 1.5 < ledger.spent()[0] <= 2.8526378
    with pytest.raises(ParameterError, match="already"):
        open_ledger(tmp_path / "second", BUDGET, written(lines))
    assert recognise_data(ledger, written(lines)) is False
    number = ledger.book(ApproxDP(epsilon=0.1, delta=1e-7)).number
    ledger.settle(number, "published")
    assert [charge.outcome for charge in ledger.state().charges] == ["published", "unknown", "published"]
    # From now on it knows lines too.
    assert recognise_data(ledger, written([*lines, "20\tivy"])) is True
    with pytest.raises(InputError, match="another data set"):
        recognise_data(FileLedger(path), written(["1", "2"]))


def test_a_registry_that_cannot_be_made_is_said(tmp_path, written, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AIDOS_REGISTRY", str(tmp_path / "file" / "registry"))
    from aidos.errors import EngineError

    with pytest.raises(EngineError, match="registry"):
        open_ledger(tmp_path / "l", BUDGET, written(LINES))
    assert not Path(tmp_path / "l").exists()

"""A source is recognised under other names, packed, grown, cut and sorted; other data are not."""

import gzip
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.account import lineage
from aidos.account.lineage import DataSet, fingerprint_files, overlap
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError
from aidos.rooms.publish.sources import data_set

KEY, OTHER_KEY = bytes(32), bytes(31) + b"1"
LINES = [f"{number // 5}\tquery {number}\t2024-03-{number % 28 + 1:02} 10:00:00" for number in range(20_000)]


@pytest.fixture
def written(tmp_path):
    def write(lines, name="log.tsv", ending="\n"):
        path = tmp_path / name
        path.write_bytes("".join(line + ending for line in lines).encode())
        return DataSet((path,))

    return write


def test_contents_are_known_whatever_names_order_and_compression(tmp_path, written):
    one, two = written(LINES[:100], "a"), written(LINES[100:], "b")
    both = DataSet(one.paths + two.paths)
    assert both.contents == DataSet(two.paths + one.paths).contents == fingerprint_files(both.paths)
    assert both.contents != one.contents
    packed = tmp_path / "other" / "c.csv.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(one.paths[0].read_bytes()))
    assert data_set([str(packed)]).contents == one.contents
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(InputError, match="damaged"):
        _ = data_set([str(packed)]).contents
    with pytest.raises(InputError, match="there is no file"):
        _ = DataSet((tmp_path / "none",)).contents


LATER = {
    "one row more": [*LINES, "9999\tnew\t2024-04-01 10:00:00"],
    "twice as long": [*LINES, *(f"{line} later" for line in LINES)],
    "five times as long": [*LINES, *(f"{line} {month}" for month in range(4) for line in LINES)],
    "its first third": LINES[: len(LINES) // 3],
    "sorted anew": random.Random(1).sample(LINES, len(LINES)),
    "one person removed": LINES[5:],
    "a row in front and a row in the middle": ["new", *LINES[:777], "newer", *LINES[777:]],
    "a tenth of the rows changed": [f"{line} x" if at % 10 == 0 else line for at, line in enumerate(LINES)],
}


@pytest.mark.parametrize("change", LATER)
def test_later_states_share_most_lines(written, change):
    part = written(LINES).part(KEY)
    assert len(part.lines) == lineage.KEPT
    assert part.spacing > 1
    assert written(LATER[change]).shared_lines(part, KEY) > 0.8


def test_line_ends_do_not_matter_and_other_data_share_nothing(written):
    part = written(LINES).part(KEY)
    assert written(LINES, ending="\r\n").shared_lines(part, KEY) == 1
    assert written([f"{line} other" for line in LINES]).shared_lines(part, KEY) == 0
    assert written(LINES).shared_lines(part, OTHER_KEY) == 0
    assert written([]).shared_lines(part, KEY) == 0


LINE = st.binary(min_size=1, max_size=20).map(lambda line: line.replace(b"\n", b" ").rstrip(b"\r") or b"x")


@given(st.lists(LINE, max_size=40, unique=True))
def test_small_files_keep_every_line_wherever_it_stands(tmp_path_factory, lines):
    place = tmp_path_factory.mktemp("lines")
    found = []
    for at, order in enumerate((lines, lines[::-1])):
        path = place / str(at)
        path.write_bytes(b"\n".join(order))
        found.append(DataSet((path,)).lines(KEY))
    assert found[0] == found[1]
    assert len(found[0][1]) == len(lines)


def test_blocks_do_not_matter(written, monkeypatch):
    whole = written(LINES).lines(KEY, 8)
    monkeypatch.setattr(lineage, "BLOCK", 1000)
    assert written(LINES).lines(KEY, 8) == whole


def test_hashes_tell_nothing_without_the_key(written):
    one, other = (written(LINES[:50]).part(key) for key in (KEY, OTHER_KEY))
    assert not set(one.lines) & set(other.lines)
    assert one.data != other.data


def people(engine, names):
    return DataSet((), table=engine.table(pa.table({"client_id": pa.array(names)})), person="client_id")


def test_people_are_compared_whatever_else_is_in_the_rows():
    with EmbeddedEngine() as engine:
        many = [f"u{number}" for number in range(10_000)]
        kept = people(engine, many + many).people(KEY)
        part = lineage.Part(data="", people=tuple(kept))
        assert len(kept) == lineage.KEPT
        for names, share in ((many[::-1], 1), (many[:5000], 1), (many + [f"v{n}" for n in range(10_000)], 1)):
            assert people(engine, names).shared_people(part, KEY) == share
        half = [*many[:5000], *(f"v{number}" for number in range(5000))]
        assert people(engine, half).shared_people(part, KEY) == pytest.approx(0.5, abs=0.1)
        assert people(engine, [f"v{number}" for number in range(10_000)]).shared_people(part, KEY) == 0
        numbered = lineage.Part(data="", people=tuple(people(engine, ["17"]).people(KEY)))
        assert people(engine, [17, 18]).shared_people(numbered, KEY) == 1


@given(st.sets(st.integers(0, 60), min_size=1), st.sets(st.integers(0, 60), min_size=1))
def test_small_sets_overlap_exactly(one, other):
    first, second = (sorted(f"{number:04x}" for number in numbers) for numbers in (one, other))
    common = len(one & other)
    assert overlap(first, second) == max(common / len(one), common / len(other))


def test_a_line_of_names_alone_makes_no_source(written):
    names = "AnonID\tQuery\tQueryTime"
    empty, log = written([names], "empty"), written([names, *LINES], "log")
    assert log.shared_lines(empty.part(KEY), KEY) == empty.shared_lines(log.part(KEY), KEY) == 0.0

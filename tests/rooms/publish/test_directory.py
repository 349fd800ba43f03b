import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.errors import InputError, ParameterError
from aidos.rooms.publish.directory import new_directory, write_files, write_histogram
from aidos.rooms.publish.manifest import read_manifest, verify_release

HOSTILE = ["=cmd|'/c calc'!A1", "+1", "-1", "@sum", "plain", 'quote" and, comma', "\ttab"]


@pytest.fixture
def release(tmp_path):
    with new_directory(tmp_path / "release") as directory:
        write_histogram(directory, "queries", pa.table({"user_query": HOSTILE, "people": list(range(7))}))
        write_files(directory, {"aidos": "test"}, page="<p>", letter="# letter")
    return tmp_path / "release"


def test_a_directory_appears_whole_or_not_at_all(tmp_path):
    with pytest.raises(RuntimeError), new_directory(tmp_path / "release") as directory:
        (directory / "half").write_text("x")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_release_is_never_overwritten(release, tmp_path):
    with pytest.raises(ParameterError, match="exists"), new_directory(release):
        pass
    with pytest.raises(ParameterError, match="does not exist"), new_directory(tmp_path / "no" / "where"):
        pass
    assert verify_release(release) == []


def test_no_cell_of_the_csv_is_a_formula_and_parquet_has_the_items_as_they_are(release):
    with (release / "queries.csv").open(newline="") as file:
        cells = [row["user_query"] for row in csv.DictReader(file)]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    assert [cell.removeprefix("'") for cell in cells] == HOSTILE
    assert pq.read_table(release / "queries.parquet").column("user_query").to_pylist() == HOSTILE


def test_the_manifest_lists_every_file(release):
    files = read_manifest(release)["files"]
    assert set(files) == {"queries.parquet", "queries.csv", "report.html", "README.md"}
    assert files["queries.parquet"]["rows"] == 7


def test_what_was_lost_changed_or_added_is_found(release):
    (release / "report.html").write_text("<p>other")
    (release / "README.md").unlink()
    (release / "strange.txt").write_text("x")
    assert verify_release(release) == [
        "README.md is missing",
        "strange.txt is not in the manifest",
        "report.html was changed after the release was made",
    ]


@pytest.mark.parametrize("content", ["not json", "[]", json.dumps({"files": 3})])
def test_damaged_manifests_are_refused(release, content):
    (release / "MANIFEST.json").write_text(content)
    with pytest.raises(InputError):
        verify_release(release)


def test_a_directory_without_manifest_is_no_release(tmp_path):
    with pytest.raises(InputError, match="no release"):
        verify_release(tmp_path)

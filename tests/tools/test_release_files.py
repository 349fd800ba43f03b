"""What a release consists of: complete, the same each time, and named alike everywhere."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aidos.errors import DISTRIBUTION

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import dist  # noqa: E402
import sbom  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
A_DAY = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def bill():
    return sbom.bill_of_materials(A_DAY, "0" * 64)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = [tmp_path_factory.mktemp("dist") / name for name in ("first", "second")]
    for output in made:
        assert dist.main([str(output)]) == 0
    return made


def test_the_distribution_has_one_name():
    assert PROJECT["name"] == DISTRIBUTION
    assert PROJECT["optional-dependencies"]["all"][0].startswith(f"{DISTRIBUTION}[")


def test_no_page_and_no_message_names_the_project_that_is_not_ours():
    found = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    named = re.compile(r"pip install [\"']?aidos(?!-search)\b")
    assert [path for path in found if named.search(path.read_text(encoding="utf-8"))] == []


def test_the_bill_lists_everything_that_all_extras_install_with_pinned_hashes(bill):
    names = {part["name"] for part in bill["components"]}
    assert {"duckdb", "numpy", "pyarrow", "llvmlite", "tomotopy", "highspy", "httpcore"} <= names
    assert DISTRIBUTION not in names
    assert names.isdisjoint({"pytest", "ruff", "atheris"})
    pinned = sbom.pinned_hashes(ROOT / "constraints.txt")
    for part in bill["components"]:
        (files,) = part["externalReferences"]
        assert [file["content"] for file in files["hashes"]] == pinned[f"{part['name']}=={part['version']}"]


def test_the_bill_is_a_graph_without_loose_ends_and_names_no_host(bill):
    known = {part["bom-ref"] for part in [bill["metadata"]["component"], *bill["components"]]}
    assert len(known) == len(bill["components"]) + 1
    assert {entry["ref"] for entry in bill["dependencies"]} == known
    assert {ref for entry in bill["dependencies"] for ref in entry["dependsOn"]} <= known
    assert "://" not in str(bill)


def test_the_bill_changes_with_its_content_alone(bill):
    assert sbom.bill_of_materials(A_DAY, "0" * 64) == bill
    assert sbom.bill_of_materials(A_DAY, "1" * 64)["serialNumber"] != bill["serialNumber"]


@pytest.mark.slow
def test_two_builds_give_the_same_bytes(built):
    first, second = ({path.name: path.read_bytes() for path in output.iterdir()} for output in built)
    assert first == second
    assert {Path(name).suffix for name in first} == {".whl", ".gz", ".json", ""}
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=built[0], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count(": OK")) == (0, 3)


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not in a clone")
def test_the_source_archive_holds_every_file_of_the_repository(built):
    (archive,) = built[0].glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True)
    tracked = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    assert tracked - packed == set()


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(built):
    (wheel,) = built[0].glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        packed = set(opened.namelist())
        said = opened.read("aidos_search-0.1.0.dist-info/METADATA").decode()
    assert {name.partition("/")[0] for name in packed} == {"aidos", "aidos_search-0.1.0.dist-info"}
    inside = {path.relative_to(ROOT / "src") for path in (ROOT / "src" / "aidos").rglob("*") if path.is_file()}
    assert {str(path) for path in inside if "__pycache__" not in path.parts} <= packed
    assert "Author: the aidos contributors" in said
    assert "Classifier: Operating System :: POSIX :: Linux" in said
    assert "Windows" not in said

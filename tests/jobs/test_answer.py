"""What comes back from a job: one value that prints, saves, travels and loads, and whose kind is its type."""

import json
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aidos.core import mechanism
from aidos.core.guarantee import PureDP
from aidos.errors import ParameterError
from aidos.jobs.answer import Finding, Release

LEAK = """
from aidos.core import mechanism
from aidos.jobs.answer import Finding, Release
from aidos.rooms.publish.histogram import Histogram
from aidos.rooms.publish.page import letter_to_readers, release_page
from aidos.rooms.risk.auditpage import risk_audit_page


def hand_over(release: Release) -> None: ...


Truth = dict[str, Histogram]


def leak(found: Finding, made: Release, bare: mechanism.Finding[Truth], truth: Truth) -> None:
    hand_over(made)
    letter_to_readers(made)
    hand_over(found)
    release_page(found, "", {})
    letter_to_readers(found)
    letter_to_readers(bare)
    letter_to_readers(truth)
    risk_audit_page(found, "")
"""
"""Whatever may leave the building is handed to functions like these."""
LEAKS = range(LEAK.count("\n", 0, LEAK.index("hand_over(found)")) + 1, LEAK.count("\n") + 1)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Counted(Finding):
    about: str = "the people of the log"
    queries: int = 3
    share: float = 0.25

    def facts(self):
        return {"queries": self.queries, "share": self.share, "skipped": 0, "parts": [1, 2]}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Published(Release):
    def facts(self):
        return {"rows": 2}


def test_an_answer_is_a_release_or_a_finding_by_type():
    assert isinstance(Counted(), mechanism.Finding)
    assert isinstance(Published(guarantee=PureDP(epsilon=1.0)), mechanism.Release)
    assert not isinstance(Counted(), Release)
    with pytest.raises(TypeError, match="guarantee"):
        Published()


def test_handing_a_finding_to_a_public_surface_is_a_type_error(tmp_path):
    file = tmp_path / "leak.py"
    file.write_text(LEAK)
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"MYPYPATH": str(Path(mechanism.__file__).parents[2]), "PATH": ""},
    )
    errors = [line for line in told.stdout.splitlines() if ": error:" in line]
    assert [int(line.split(":")[1]) for line in errors] == list(LEAKS), told.stdout + told.stderr
    assert all("has incompatible type" in line and "expected" in line and "Release" in line for line in errors)


def test_it_is_one_line_and_facts_for_machines():
    assert repr(Counted()) == "<Counted: queries=3, share=0.25, skipped=0>"
    assert json.loads(Counted().to_json()) == {"queries": 3, "share": 0.25, "skipped": 0, "parts": [1, 2]}
    assert Counted().to_arrow().to_pylist() == [{"queries": 3, "share": 0.25, "skipped": 0}]
    assert Counted().to_pandas()["queries"].tolist() == [3]


def test_a_notebook_shows_facts_without_counts_of_nothing():
    shown = Counted()._repr_html_()
    assert "queries" in shown
    assert "skipped" not in shown


@pytest.mark.parametrize("suffix", [".html", ".json", ".csv", ".parquet"])
def test_findings_are_written_for_their_owner_alone_and_releases_for_everybody(tmp_path, suffix):
    for answer, mode in ((Counted(), 0o600), (Published(guarantee=PureDP(epsilon=1.0)), 0o644)):
        path = tmp_path / f"{type(answer).__name__}{suffix}"
        answer.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert "not for release" in (tmp_path / "Counted.html").read_text() if suffix == ".html" else True
    if suffix == ".parquet":
        assert pq.read_table(tmp_path / "Counted.parquet").num_rows == 1


def test_a_name_that_does_not_say_what_to_write_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="does not say what to write"):
        Counted().save(tmp_path / "answer")
    assert not list(tmp_path.iterdir())

"""The memory of a session under several processes at once: what each says it remembered is remembered."""

import json
import subprocess
import sys

import pytest

from aidos.jobs.desk import Desk
from aidos.rooms.shield.profile.building import BuildProfile
from aidos.rooms.shield.profile.changing import EditProfile

PROCESSES, EACH = 4, 6
NAMES = [a + b + "x" for a in "bcdfghjk" for b in "aeiouy"]
HELD = len(NAMES) // 2
ASK = """
import json, sys
import aidos

shield = aidos.shield(sys.argv[1], taxonomy=sys.argv[2])
for query in sys.argv[4:]:
    told = shield.explain(query, remember=True, distinct_from=1.0, risk=sys.argv[3]).facts()
    print(json.dumps([told["sent"], told["remembered"]]))
"""


@pytest.fixture
def place(tmp_path):
    """A taxonomy of 48 topics in pairs that share a word, and a profile that holds one of each pair."""
    rows = ["id\tparent\tname\tsensitive\tdescription\twords", "all\t\tAll\t\t\t"]
    rows += [
        f"t{number}\tall\tTopic{name}\t\t\tword{name} shared{NAMES[number % HELD]}" for number, name in enumerate(NAMES)
    ]
    (tmp_path / "t.tsv").write_text("\n".join(rows) + "\n")
    (tmp_path / "notes").mkdir()
    for name in NAMES[:HELD]:
        (tmp_path / "notes" / f"{name}.txt").write_text(f"word{name}")
    asked = {"taxonomy": tmp_path / "t.tsv", "output": tmp_path / "profile.json"}
    BuildProfile(sources=(str(tmp_path / "notes"),), **asked).run(Desk())
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("risk", ["unmarked", "excess"])
def test_four_processes_at_once_lose_nothing_that_they_say_they_remembered(place, risk):
    shares = [NAMES[EACH * number : EACH * (number + 1)] for number in range(PROCESSES)]
    asking = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                ASK,
                place / "profile.json",
                place / "t.tsv",
                risk,
                *(f"shared{name}" for name in own),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        for own in shares
    ]
    # A fifth changes the profile by hand meanwhile.
    EditProfile(file=place / "profile.json", sensitive=("t40",), taxonomy=place / "t.tsv").run(Desk())
    answers = [json.loads(line) for one in asking for line in one.communicate(timeout=100)[0].splitlines()]
    assert [one.returncode for one in asking] == [0] * PROCESSES
    assert len(answers) == PROCESSES * EACH
    assert all(remembered for _, remembered in answers)
    kept = json.loads((place / "profile.json").read_text())
    assert set(kept["shown"]) == {topic for sent, _ in answers for topic in sent}
    assert len(kept["shown"]) == 25
    assert kept["queries"] == PROCESSES * EACH
    assert "t40" in kept["sensitivities"]
    assert sorted(path.name for path in place.iterdir()) == ["notes", "profile.json", "t.tsv"]

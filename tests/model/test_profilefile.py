"""The private file of a profile: what is in it, who can read it, and what goes wrong with it."""

import json
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from aidos.core.profile import BuiltProfile, KeptProfile, Requirement, SessionMemory, tree_digest
from aidos.core.taxonomy import Profile, Taxonomy, Topic
from aidos.core.topictree import TopicTree
from aidos.errors import EngineError, InputError, ParameterError
from aidos.model.profilefile import (
    erase_profile,
    is_profile_file,
    read_profile,
    rewrite_profile,
    to_json,
    write_profile,
)

TOPICS = [
    Topic("all", "", "All"),
    Topic("health", "all", "Health", sensitive="health"),
    Topic("diet", "health", "Diet"),
    Topic("sleep", "health", "Sleep"),
    Topic("games", "all", "Games"),
    Topic("chess", "games", "Chess"),
]
TREE = TopicTree.of(Taxonomy.of(TOPICS))


def built(**supports):
    return BuiltProfile(profile=Profile(supports), sources={"texts": 4}, mapped=int(sum(supports.values())))


@pytest.fixture
def kept():
    return KeptProfile.of(built(diet=3.0, chess=1.0), TREE, Requirement({"health": 1.0}), taxonomy="small.tsv")


@pytest.fixture
def path(tmp_path, kept):
    write_profile(tmp_path / "profile.json", kept)
    return tmp_path / "profile.json"


def spoil(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_what_was_written_is_read_again(path, kept):
    assert read_profile(path, TREE) == kept
    assert kept.profile == Profile({"diet": 3.0, "chess": 1.0})
    assert kept.requirement == Requirement({"health": 1.0})


def test_the_file_holds_numbers_by_topic_and_nothing_else(path):
    held = json.loads(path.read_text())
    assert held.keys() == {
        "aidos_profile", "taxonomy", "created", "updated", "sources", "supports", "sensitivities", "hidden", "shown",
        "asked", "queries",
    }  # fmt: skip
    assert held["supports"] == {"diet": 3.0, "chess": 1.0}
    assert held["sources"] == {"texts": 4}


def test_only_the_owner_can_read_it_whatever_the_umask_and_what_was_there(path, kept):
    path.chmod(0o644)
    before = os.umask(0)
    try:
        write_profile(path, kept)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_can_get_at_is_refused_until_it_is_mended(path, mode):
    path.chmod(mode)
    with pytest.raises(InputError, match="by others") as caught:
        read_profile(path, TREE)
    assert "chmod 600" in caught.value.hint
    path.chmod(0o600)
    read_profile(path, TREE)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"aidos_profile": 2}, "another version"),
        ({"supports": {"diet": 1, "astrology": 2}}, "does not have 1 of its topics: astrology"),
        ({"sensitivities": {"witchcraft": 1}}, "witchcraft"),
        ({"hidden": ["ghosts"]}, "ghosts"),
        ({"sensitivities": {"diet": -1}}, "sensitivities must be numbers above 0; topics concerned: diet"),
        ({"sensitivities": {"diet": float("nan"), "chess": 1}}, "concerned: diet"),
        ({"sensitivities": {"diet": float("inf")}}, "concerned: diet"),
        ({"sensitivities": {"diet": True}}, "concerned: diet"),
        ({"sensitivities": {"diet": "1"}}, "concerned: diet"),
        ({"supports": {"chess": 0}}, "supports must be numbers above 0; topics concerned: chess"),
        ({"supports": {"chess": 10**400}}, "no profile of aidos, or is damaged"),
        ({"supports": []}, "supports is no table"),
        ({"hidden": "diet"}, "hidden is no list"),
        ({"asked": ["diet"]}, "asked is no table"),
        ({"asked": {"diet": -1}}, "above 0"),
        ({"asked": {"ghosts": 1}}, "ghosts"),
        ({"queries": -1}, "queries must be a number"),
        ({"taxonomy": None}, "which taxonomy"),
        ({"taxonomy": {"name": "other.tsv", "digest": "0"}}, r"another taxonomy \(other.tsv\)"),
        ({"sources": {"https://secret.example": 1}}, "sources must be kinds"),
        ({"sources": {"texts": 1.5}}, "sources must be kinds"),
        ({"visits": ["https://secret.example"]}, "fields that a profile does not have"),
        ({"created": 5}, "must be times"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(path, changes, words):
    spoil(path, **changes)
    with pytest.raises(InputError, match=words) as caught:
        read_profile(path, TREE)
    assert caught.value.hint
    assert "secret" not in caught.value.message


def test_a_profile_of_another_taxonomy_names_the_topics_that_are_missing(path):
    other = TopicTree.of(Taxonomy.of([*TOPICS[:4], Topic("music", "all", "Music")]))
    with pytest.raises(InputError, match=r"another taxonomy \(small.tsv\); .* 1 of its topics: chess"):
        read_profile(path, other)


def test_the_digest_knows_topics_and_parents_and_not_words_or_order():
    said = [Topic("all", "", "Everything"), *TOPICS[4:], *TOPICS[1:4]]
    assert tree_digest(TopicTree.of(Taxonomy.of(said))) == tree_digest(TREE)
    moved = [*TOPICS[:5], Topic("chess", "all", "Chess")]
    assert tree_digest(TopicTree.of(Taxonomy.of(moved))) != tree_digest(TREE)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"supports": {}}', b"\xff\xfe\x00", b"[" * 100_000, b'{"a": 1, "a": 2}']
)
def test_what_is_no_profile_is_refused_and_never_erased(path, content):
    path.write_bytes(content)
    with pytest.raises(InputError, match="no profile"):
        read_profile(path, TREE)
    with pytest.raises(InputError, match="left alone"):
        erase_profile(path)
    assert path.read_bytes() == content


def test_a_field_that_is_missing_is_named(path):
    held = json.loads(path.read_text())
    del held["hidden"]
    path.write_text(json.dumps(held))
    with pytest.raises(InputError, match="hidden is missing"):
        read_profile(path, TREE)


def test_a_profile_that_is_not_there_is_told_with_how_to_make_it(tmp_path):
    with pytest.raises(InputError, match="there is no profile") as caught:
        read_profile(tmp_path / "profile.json", TREE)
    assert "profile build" in caught.value.hint


def test_names_from_a_file_cannot_act_in_a_terminal(path):
    spoil(path, supports={"\x1b[2Jdiet" + "x" * 500: 1})
    with pytest.raises(InputError) as caught:
        read_profile(path, TREE)
    assert "\x1b" not in caught.value.message
    assert len(caught.value.message) < 300


def test_supports_are_set_and_taken_out_with_all_below(kept):
    assert kept.with_support(TREE, "sleep", 2).supports["sleep"] == 2
    without = kept.with_support(TREE, "sleep", 2).without_support(TREE, "health")
    assert dict(without.supports) == {"chess": 1.0}
    assert dict(without.sensitivities) == {"health": 1.0}
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="diet"):
            kept.with_support(TREE, "diet", wrong)
    with pytest.raises(ParameterError, match="holds nothing at or below sleep"):
        kept.without_support(TREE, "sleep")
    with pytest.raises(ParameterError, match="no topic"):
        kept.with_support(TREE, "astrology", 1)


def test_what_was_hidden_once_is_remembered_from_one_day_to_the_next(path, kept):
    write_profile(path, kept.remembering(TREE, SessionMemory().adding(["sleep"], ["diet", "health"])))
    later = read_profile(path, TREE)
    assert later.memory == SessionMemory(frozenset({"sleep"}), frozenset({"health", "diet"}))
    assert later.remembering(TREE, SessionMemory(frozenset({"diet"}))).hidden == ("diet", "sleep")
    assert later.shown == ("health", "diet")
    assert not later.forgetting(TREE, "health").shown


def test_overlapping_sensitive_topics_are_named_and_merged_on_demand(kept):
    with pytest.raises(InputError, match="diet is below health") as caught:
        kept.with_sensitivity(TREE, "diet", 3)
    assert "--merge" in caught.value.hint
    assert dict(kept.with_sensitivity(TREE, "diet", 3, merge=True).sensitivities) == {"health": 3.0}
    assert dict(kept.with_sensitivity(TREE, "chess", 2).sensitivities) == {"health": 1.0, "chess": 2.0}
    assert dict(kept.with_sensitivity(TREE, "health", 5).sensitivities) == {"health": 5.0}
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ParameterError, match="chess"):
            kept.with_sensitivity(TREE, "chess", wrong)
    assert not kept.without_sensitivity(TREE, "health").sensitivities
    with pytest.raises(ParameterError, match="chess is not marked"):
        kept.without_sensitivity(TREE, "chess")


def test_building_again_keeps_marks_and_memory_and_respects_what_was_unmarked(kept):
    usual = Requirement({"health": 1.0})
    unmarked = kept.without_sensitivity(TREE, "health").remembering(TREE, SessionMemory(frozenset({"sleep", "diet"})))
    assert unmarked.hidden == ("diet", "sleep")
    again = unmarked.rebuilt(built(diet=5.0, sleep=1.0), usual, TREE)
    assert dict(again.supports) == {"diet": 5.0, "sleep": 1.0}
    assert not again.sensitivities
    assert again.hidden == ("diet", "sleep")
    new = KeptProfile.of(built(chess=1.0), TREE, Requirement({}), taxonomy="small.tsv")
    assert dict(new.rebuilt(built(diet=1.0), usual, TREE).sensitivities) == {"health": 1.0}
    own = new.with_sensitivity(TREE, "diet", 4)
    assert dict(own.rebuilt(built(diet=1.0), usual, TREE).sensitivities) == {"diet": 4.0}


def test_a_branch_is_forgotten_with_all_that_says_it_was_there(path, kept):
    kept = kept.remembering(TREE, SessionMemory(frozenset({"diet"}))).forgetting(TREE, "health")
    with path.open("rb") as old:
        rewrite_profile(path, kept)
        assert set(old.read()) == {0}
    text = path.read_text()
    assert "diet" not in text
    assert "health" not in text
    assert dict(read_profile(path, TREE).supports) == {"chess": 1.0}
    with pytest.raises(ParameterError, match="holds nothing"):
        kept.forgetting(TREE, "health")


def test_everything_is_overwritten_and_deleted_with_what_a_killed_writer_left(path):
    left = path.with_name(".profile.json.0123abcd.partial")
    left.write_text("half a profile")
    path.with_name("other.json").write_text("stays")
    with path.open("rb") as old:
        erase_profile(path)
        assert set(old.read()) == {0}
    assert os.listdir(path.parent) == ["other.json"]


def test_a_link_is_followed_when_writing_and_goes_when_all_is_forgotten(path, kept, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(path)
    write_profile(link, kept.with_support(TREE, "sleep", 9))
    assert link.is_symlink()
    assert read_profile(path, TREE).supports["sleep"] == 9
    erase_profile(link)
    assert os.listdir(tmp_path) == []


WRITER = """
import json, sys
from pathlib import Path
from aidos.model.profilefile import write_profile
from aidos.core.profile import KeptProfile
path = Path(sys.argv[1])
print("ready", flush=True)
at = 0
while True:
    at += 1
    supports = dict.fromkeys((f"topic-{n}" for n in range(5000)), float(at))
    write_profile(path, KeptProfile(taxonomy="t", digest="d", supports=supports))
"""


def test_a_kill_while_writing_leaves_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "profile.json"
    for wait in (0.01, 0.05, 0.13, 0.2):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout.readline() == b"ready\n"
            while not path.exists():
                time.sleep(0.005)
            time.sleep(wait)
            writer.send_signal(signal.SIGKILL)
        supports = json.loads(path.read_text())["supports"]
        assert len(supports) == 5000
        assert len(set(supports.values())) == 1
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for left in tmp_path.glob(".*.partial"):
            assert stat.S_IMODE(left.stat().st_mode) == 0o600


def test_a_full_disk_leaves_the_old_file_and_no_half_one(path, kept):
    before = path.read_bytes()
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from aidos.model.profilefile import write_profile\n"
        "from aidos.core.profile import KeptProfile\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "supports = dict.fromkeys(map(str, range(5000)), 1.0)\n"
        "try:\n    write_profile(Path(sys.argv[1]), KeptProfile(taxonomy='t', digest='d', supports=supports))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(EngineError.__name__)
    assert "the disk is full" in done.stdout
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_an_export_is_the_file_itself(path, kept, tmp_path):
    copy = tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    copy.chmod(0o600)
    assert is_profile_file(copy)
    assert read_profile(copy, TREE) == kept
    assert json.loads(copy.read_text()) == to_json(kept)


def test_files_from_before_queries_were_counted_are_read(path, kept):
    held = json.loads(path.read_text())
    del held["asked"], held["queries"]
    path.write_text(json.dumps(held))
    assert read_profile(path, TREE) == kept

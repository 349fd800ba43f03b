"""Forgetting: not a byte is left, everybody else's exposure is right, and no kill leaves anything in between."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_posts import as_table, compute_posts, made_post
from made_store import check_answers, check_store

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError
from aidos.rooms.exposure.queries import forgetting, manifest
from aidos.rooms.exposure.queries.forgetting import Forgotten, forget
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore

SECRETS = ("zelda", "zsecret", "zword", "zadded", "zgone")
OTHERS = [made_post(f"p{at}", text, f"ann{at % 2}", at) for at, text in enumerate(["a b c", "b c d", "a a d", "c zx"])]
HERS = [made_post("zsecret1", "a zword c", "zelda", 1), made_post("zsecret2", "zword zgone", "zelda", 2)]
LATER = [made_post("zsecret3", "zadded b", "zelda", 5), made_post("n1", "b new", "newcomer", 6)]
LEFT = [*OTHERS, LATER[1]]


def ask(path: Path, *names: str) -> Forgotten:
    with EmbeddedEngine(threads=1) as engine:
        return forget(path, names, engine, threads=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A community with a member in every kind of file, and what killed runs left."""
    made = tmp_path / "exposure"
    compute_posts([*OTHERS, *HERS], SearchExposure(k=2), made)
    store = ExposureStore.open(made)
    store.add(as_table(LATER))
    store.delete(["zsecret2"])
    (made / ".posts.parquet.0123abcd.partial").write_bytes(b"zsecret left behind")
    (made / "queries" / ".00000.parquet.0123abcd.partial").write_bytes(b"zword left behind")
    (made / "changes" / "000001").mkdir()
    (made / "changes" / "000001" / "added.arrow").write_bytes(b"zadded left behind")
    (made / "renewed").mkdir()
    (made / "renewed" / "posts.parquet").write_bytes(b"zelda left behind")
    return made


def holds(path: Path) -> set[str]:
    """Which secrets any file holds, in its bytes or in what they stand for, or in its name."""
    found = set()
    for file in path.rglob("*"):
        told = [str(file).encode()]
        if file.is_file():
            told.append(file.read_bytes())
            if file.suffix == ".parquet" and b"left behind" not in told[1]:
                told.append(str(pq.read_table(file).to_pydict()).encode())
            if file.suffix == ".arrow" and file.stat().st_size > 100:
                with pa.memory_map(str(file)) as source:
                    told.append(str(pa.ipc.open_file(source).read_all().to_pydict()).encode())
            if file.suffix == ".npy":
                told.append(np.load(file).tobytes())
        found |= {secret for secret in SECRETS for each in told if secret.encode() in each}
    return found


def check_forgotten(path: Path) -> None:
    assert holds(path) == set()
    assert sorted(each.name for each in path.iterdir()) == sorted([manifest.MANIFEST, *manifest.ENTRIES])
    store = ExposureStore.open(path)
    check_store(LEFT, store, LEFT)
    check_answers(LEFT, store, LEFT)
    assert store.members().column("author_id").to_pylist() == ["ann0", "ann1", "newcomer"]


def test_no_byte_of_a_member_is_left_and_everybody_else_is_as_computed_anew(path: Path) -> None:
    assert holds(path) == set(SECRETS)
    before = ExposureStore.open(path).facts
    found = ask(path, "zelda")
    check_forgotten(path)
    now = ExposureStore.open(path).facts
    assert (found.members, found.posts, found.words) == (1, 3, 3)
    assert (found.queries, found.exposures) == (before.queries - now.queries, before.exposures - now.exposures)
    for file in path.rglob("*"):
        assert file.stat().st_mode & 0o077 == 0
    ExposureStore.open(path).delete(["n1"])


def test_several_are_forgotten_or_none(path: Path) -> None:
    with pytest.raises(InputError, match="1 of 2 members have never posted; nobody was forgotten"):
        ask(path, "zelda", "nobody")
    assert "zword" in holds(path)
    with pytest.raises(InputError, match="nobody else has posted"):
        ask(path, "zelda", "ann0", "ann1", "newcomer")
    assert ask(path, "zelda", "newcomer", "zelda").members == 2
    check_store(OTHERS, ExposureStore.open(path), OTHERS)


def stopped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget, and be killed at the turning point."""

    def never(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(forgetting.manifest, "take_renewed", never)
        with pytest.raises(KeyboardInterrupt):
            ask(path, "zelda")


OPENERS: list[Callable[[Path], Any]] = [
    ExposureStore.open,
    lambda path: ExposureStore.open(path).answer("a b"),
    lambda path: ask(path, "nobody at all"),
]


@pytest.mark.parametrize("opener", OPENERS)
def test_whoever_opens_it_next_brings_it_to_its_end(
    path: Path, monkeypatch: pytest.MonkeyPatch, opener: Callable[[Path], Any]
) -> None:
    stopped(path, monkeypatch)
    try:
        opener(path)
    except InputError as error:
        assert "never posted" in error.message
    check_forgotten(path)


def test_a_kill_at_any_moment_of_the_turn_is_made_good(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(path, monkeypatch)
    kept, calls = path.with_name("kept"), 0
    shutil.copytree(path, kept)
    while kill_at(path, calls):
        assert ExposureStore.open(path).facts.members == 3
        assert holds(path) == set()
        calls += 1
        shutil.rmtree(path)
        shutil.copytree(kept, path)
    assert calls > 15
    check_forgotten(path)


def kill_at(path: Path, call: int) -> bool:
    """Whether a process that takes what was renewed is killed before so many calls to the file system are done."""
    child = os.fork()
    if not child:
        left = call

        def counted(do: Callable[..., Any]) -> Callable[..., Any]:
            def once(*given: Any, **named: Any) -> Any:
                nonlocal left
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                return do(*given, **named)

            return once

        for name in ("rename", "replace", "unlink", "rmdir"):
            setattr(os, name, counted(getattr(os, name)))
        try:
            manifest.take_renewed(path)
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def test_before_the_turn_everything_is_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = ExposureStore.open(path).facts

    def killed(*_: object, **__: object) -> None:
        (path / "renewed").mkdir()
        (path / "renewed" / "posts.parquet").write_bytes(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "compute", killed)
        with pytest.raises(KeyboardInterrupt):
            ask(path, "zelda")
    assert ExposureStore.open(path).facts == old
    assert ExposureStore.open(path).delete(["n1"]).posts == 1
    assert not (path / "renewed").exists(), "who writes next removes what was begun"

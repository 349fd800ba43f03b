"""Every kind of state that aidos keeps and opens again: made once in the sample world, damaged, and opened for real.

    python tests/fuzz/statedirs.py [--minutes 5] [--seed 1] [--kind exposure]

A trial copies a state, damages one thing in it (see `damage`), sometimes makes the checksums right again, and runs the
commands that open it, in a process of its own, so that a crash is seen as one. A clear answer is exit code 0, 2 or 3
(1 where a command says so of what it verifies), and on the standard error nothing but what aidos says in words.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from damage import copy, mutate, reseal

if TYPE_CHECKING:
    from aidos.rooms.audit.collect.site import Site

SECONDS = 120
"""A command that takes longer hangs: most take less than one."""
SECONDS_TO_BUILD = 1200
"""The first command of its kind compiles, perhaps on a machine with much else to do."""
MEMORY = 5 << 29
"""Bytes that a command may take beside what its parent holds."""
PEOPLE = "200"
TERMS = ("loan", "letter")
Command = list[str] | Callable[[Path], object]


@dataclass(frozen=True)
class Kind:
    """A kind of state."""

    name: str
    file: str
    """Where it is, in the place where all are made."""
    commands: Callable[[Path, Path], list[Command]]
    """What opens it, given where it is and where the other files are."""


@dataclass(frozen=True)
class Outcome:
    """What became of one trial."""

    kind: str
    seed: int
    damage: str
    command: str
    code: int
    """Negative: ended by that signal."""
    said: str

    @property
    def is_clear(self) -> bool:
        """Whether that is how an error has to be told."""
        allowed = {0, 1, 2, 3} if "verify" in self.command else {0, 2, 3}
        lines = self.said.splitlines()
        spoken = all(line.startswith(("aidos: ", "  ")) for line in lines)
        return self.code in allowed and spoken and bool(lines) >= (self.code in {2, 3})


STEPS = (
    f"sample posts --size {PEOPLE} -o posts.parquet",
    f"sample rankings --size {PEOPLE} -o rankings.jsonl",
    "expose compute posts.parquet -o exposure",
    "risk rank posts.parquet --topic debt --measure lda-dt --measure entropy -o ranks --i-am-the-operator",
    "publish log.tsv --items queries,clicks,pairs --epsilon 40 --without-ledger --seed 3 -o release",
    "ledger open log.tsv --epsilon 3 --delta 1e-5 -o log.ledger",
    "fair rerank rankings.jsonl --store attention.store -o served.jsonl",
    "shield profile build notes -o profile.json",
    "audit learn pairs.jsonl -o audit",
    "taxonomy import topics.txt -o topics.taxonomy --index",
)


def build(place: Path) -> None:
    """Make every state once, with the commands that people use."""
    place.mkdir(parents=True, exist_ok=True)
    write_inputs(place)
    for step in (*map(str.split, STEPS), make_index, make_changes, make_models, make_collection, make_unfinished):
        outcome = in_child(place, "build", 0, "nothing", [step], seconds=SECONDS_TO_BUILD)
        if outcome.code:
            raise RuntimeError(f"{outcome.command}: {outcome.code}: {outcome.said}")


def write_inputs(place: Path) -> None:
    """What commands read that is no state."""
    import json

    chosen = random.Random(1)
    row = {"timestamp": "2024-06-01 01:13:37", "text": "A letter about the loan, and gardening with seeds"}
    for name in ("new", "newer"):
        (place / f"{name}.jsonl").write_text(json.dumps({"post_id": name, "author_id": "newcomer", **row}) + "\n")
    (place / "notes").mkdir()
    (place / "notes" / "garden.txt").write_text("Compost, seeds and gardening in spring; a loan and debt advice")
    (place / "topics.txt").write_text("Home\nHome > Garden\nHome > Garden > Compost\nMoney\nMoney > Debt\n")
    lines = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    for person in range(400):
        for minute, query in enumerate(chosen.sample(["fern pots", "moss pots", "fern", "moss", "oak"], 2)):
            address = f"https://{query.split()[0]}.example.org"
            lines.append(f"{person}\t{query}\t2024-03-01 10:0{minute}:00\t1\t{address}")
    (place / "log.tsv").write_text("\n".join(lines) + "\n")
    with (place / "pairs.jsonl").open("w") as stream:
        for number in range(30):
            listed = [
                {"url": f"https://site{number}.example.org/{at}", "title": title, "snippet": title}
                for at, title in enumerate(("Debt advice", "Gardening in spring", "Chess openings", "Football") * 3)
            ]
            moved = sorted(listed, key=lambda each: ("Debt" not in each["title"], each["url"]))
            pair = {"vanilla": listed, "personalised": moved, "again": listed}
            stream.write(json.dumps({"query": f"search {number}", **pair}) + "\n")


def make_index(place: Path) -> None:
    """An index of two segments, one of them with a deleted document."""
    from aidos.model.retrieval.index import Index
    from aidos.model.text.analyser import Analyser

    index = Index.build([(f"d{at}", f"word{at % 7} common loan") for at in range(60)], analyser=Analyser())
    index.delete(["d3"])
    index.add([(f"e{at}", f"later{at} letter") for at in range(20)])
    index.save(place / "index")


def make_changes(place: Path) -> None:
    """An exposure directory that was changed since."""
    from aidos.surfaces.cli import run

    shutil.copytree(place / "exposure", place / "changed")
    if run(["expose", "add", str(place / "new.jsonl"), "--in", str(place / "changed"), "--quiet"]):
        raise RuntimeError("adding failed")


def make_models(place: Path) -> None:
    """A topic model and vectors, as `aidos risk train` leaves them."""
    import numpy as np

    from aidos.model.latent.model import TopicModel
    from aidos.model.vectors import WordVectors

    (place / "models").mkdir()
    words = ("loan", "letter", "debt", "depress", "sad", "garden", "seed", "bank")
    drawn = np.random.default_rng(2).random((4, len(words))).astype(np.float32)
    model = TopicModel(words=words, phi=drawn / drawn.sum(axis=1, keepdims=True), prior=np.full(4, 0.1, np.float32))
    model.save(place / "models" / "topics.npz")
    WordVectors(words=words, matrix=drawn.T).save(place / "models" / "vectors.npz")


def site_of(place: Path) -> Site:
    """The file of a site that a collection was made with."""
    from aidos.rooms.audit.collect.site import read_site

    (place / "site.toml").write_text('address = "https://site.example/?q={query}"\nresults = ".result"\n')
    return read_site(place / "site.toml")


def make_collection(place: Path) -> None:
    """Result lists as `aidos audit collect` keeps them: what asks for them is a browser."""
    use_collection(place / "collection", place)


def use_collection(path: Path, place: Path) -> None:
    """Go on with a collection."""
    from aidos.rooms.audit.collect.keeping import opened_collection

    with opened_collection(path, site_of(place)) as kept:
        for number in range(len(kept.queries), len(kept.queries) + 3):
            row = {"query": f"search {number}", "position": 1, "url": "https://page.example/", "title": "A page"}
            kept.add(f"search {number}", [{**row, "list": each} for each in ("vanilla", "personalised", "again")])


def make_unfinished(place: Path) -> None:
    """An exposure directory whose computation was interrupted while it gathered."""
    from aidos.rooms.exposure.queries import compute
    from aidos.surfaces.cli import run

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    compute._gather = interrupted
    if run(["expose", "compute", str(place / "posts.parquet"), "-o", str(place / "unfinished"), "--quiet"]) != 130:
        raise RuntimeError("it went on")


def use_index(path: Path) -> None:
    """Search, change and save an index, as a service and a cache of topics do."""
    from aidos.model.retrieval.index import Index
    from aidos.model.retrieval.search import search

    index = Index.open(path)
    search(index, "common loan later1", None, 10)
    index.document(search(index, "common", None, 3).ids[0])
    index.add([("new", "common new words")])
    index.delete([name for name in index.names(0, range(min(40, len(index.segments[0])))) if index.find(name)])
    index.save(path)


def _exposure(state: Path, place: Path) -> list[Command]:
    where = ["--in", str(state)]
    return [
        ["expose", "member", "10000001", *where],
        ["expose", "query", " ".join(TERMS), *where],
        ["expose", "draft", "a loan and a letter", *where],
        ["expose", "audit", *where, "--least", "10"],
        ["expose", "delete", "p00000000003", *where],
        ["expose", "add", str(place / "newer.jsonl"), *where],
    ]


def _risk(state: Path, place: Path) -> list[Command]:
    where = ["--in", str(state)]
    return [
        ["risk", "audit", *where, "--least", "10"],
        ["risk", "person", "10000001", *where],
        ["risk", "add", str(place / "new.jsonl"), *where],
        ["risk", "forget", "--person", "newcomer", *where],
    ]


KINDS = {
    kind.name: kind
    for kind in (
        Kind("exposure", "exposure", _exposure),
        Kind("changed exposure", "changed", _exposure),
        Kind(
            "unfinished exposure",
            "unfinished",
            lambda state, place: [["expose", "compute", str(place / "posts.parquet"), "-o", str(state)]],
        ),
        Kind("risk", "ranks", _risk),
        Kind("index", "index", lambda state, place: [lambda _: use_index(state)]),
        Kind("models", "models", lambda state, place: [["risk", "topics", "--model", str(state)]]),
        Kind(
            "release",
            "release",
            lambda state, place: [
                ["verify", str(state)],
                ["suggest", str(state), "moss pots", "--least-ratio", "1"],
                ["rank", str(state), "fern"],
            ],
        ),
        Kind(
            "ledger",
            "log.ledger",
            lambda state, place: [["ledger", "show", str(state)], ["ledger", "verify", str(state)]],
        ),
        Kind(
            "attention",
            "attention.store",
            lambda state, place: [
                ["fair", "store", str(state)],
                ["fair", "export", str(state), "-o", str(state) + ".accounts.parquet"],
                ["fair", "rerank", str(place / "rankings.jsonl"), "--store", str(state), "-o", str(state) + ".jsonl"],
            ],
        ),
        Kind(
            "profile",
            "profile.json",
            lambda state, place: [
                ["shield", "profile", "show", str(state)],
                ["shield", "explain", "compost", "--profile", str(state)],
                ["shield", "profile", "edit", str(state), "--sensitive", "debt=3"],
            ],
        ),
        Kind(
            "audit",
            "audit",
            lambda state, place: [
                ["audit", "evidence", str(state)],
                ["audit", "compare", str(state), str(place / "audit"), "-o", str(state) + ".html"],
                f"audit learn {place}/pairs.jsonl --same-topics {state} -o {state}.next".split(),
            ],
        ),
        Kind("collection", "collection", lambda state, place: [lambda _: use_collection(state, place)]),
        Kind(
            "taxonomy",
            "topics.taxonomy",
            lambda state, place: [["taxonomy", "find", "compost", "--taxonomy", str(state)]],
        ),
    )
}


def in_child(
    place: Path, kind: str, seed: int, damage: str, commands: list[Command], *, seconds: int = SECONDS
) -> Outcome:
    """Run commands in a process of its own until one does not end with 0 or an error in words."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as last:
        child = os.fork()
        if not child:
            code = 99  # nothing may get back into the parent's frames
            try:
                signal.alarm(seconds)
                code = _run_all(place, commands, said.fileno(), last.fileno())
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        for stream in (said, last):
            stream.seek(0)
        command, text = last.read().decode(), said.read().decode("utf-8", "replace")
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return Outcome(kind=kind, seed=seed, damage=damage, command=command, code=code, said=text)


def _run_all(place: Path, commands: list[Command], said: int, last: int) -> int:
    """All commands, each after the other; the first that fails in any way ends it, unless it failed in words."""
    from aidos.surfaces.cli import _complain_about, run

    os.chdir(place)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    os.dup2(said, 2)
    # A test runner may have put streams and handlers of its own there.
    faulthandler.disable()
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    resource.setrlimit(resource.RLIMIT_DATA, (_held() + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    code = 0
    for command in commands:
        os.ftruncate(last, 0)
        os.ftruncate(said, 0)
        os.lseek(said, 0, os.SEEK_SET)
        name = command.__name__ if callable(command) else " ".join(command)
        os.pwrite(last, name.encode(), 0)
        try:
            code = (command(place) and 0) or 0 if callable(command) else run([*command, "--quiet"])
        except Exception as error:
            code = _complain_about(error)
        sys.stderr.flush()
        text = os.pread(last, 10_000, 0).decode()
        shown = os.pread(said, 100_000, 0).decode("utf-8", "replace")
        if not Outcome(kind="", seed=0, damage="", command=text, code=code, said=shown).is_clear:
            return code or 98  # said what is not an error in words
    return code


def _held() -> int:
    """Bytes of data that this process has already: a test runner's child begins with all that the runner holds."""
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[5]) * resource.getpagesize()


def trial(place: Path, kind: Kind, seed: int) -> Outcome:
    """Damage a copy of a state, and open it."""
    chosen = random.Random(f"{kind.name} {seed}")
    with tempfile.TemporaryDirectory(dir=place) as directory:
        state = copy(place / kind.file, Path(directory) / kind.file)
        if (beside := place / f"{kind.file}.index").is_dir():
            shutil.copytree(beside, Path(directory) / beside.name)
        damaged = Path(directory) if kind.name == "taxonomy" else state
        told = mutate(damaged, chosen)
        if chosen.random() < 0.6:
            reseal(damaged)
            told += ", sealed again"
        os.environ["AIDOS_REGISTRY"] = f"{directory}/registry"
        return in_child(Path(directory), kind.name, seed, told, kind.commands(state, place))


def warm(place: Path) -> None:
    """Open every state once in this process, so that children find all code loaded; all must open as they were made."""
    from aidos.surfaces.cli import run

    out, err = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        for kind in KINDS.values():
            with tempfile.TemporaryDirectory(dir=place) as directory:
                state = copy(place / kind.file, Path(directory) / kind.file)
                for number, command in enumerate(kind.commands(state, place)):
                    code = (command(place) and 0) or 0 if callable(command) else run([*command, "--quiet"])
                    if code and number < 2:
                        raise RuntimeError(f"{kind.name}: {' '.join(command)}: {code}")
    finally:
        os.dup2(out, 1)
        os.dup2(err, 2)
        for descriptor in (out, err, null):
            os.close(descriptor)


def trials(place: Path, seed: int, kinds: list[str]) -> Iterator[Outcome]:
    """Trials without end, one kind after the other."""
    while True:
        for name in kinds:
            yield trial(place, KINDS[name], seed)
        seed += 1


def main() -> int:
    """Try for some minutes, and tell what was not clear."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=sorted(KINDS))
    parser.add_argument("--place", type=Path)
    asked = parser.parse_args()
    os.environ["AIDOS_REGISTRY"] = str((asked.place or Path(tempfile.gettempdir())) / "registry")
    with tempfile.TemporaryDirectory() as directory:
        place = asked.place or Path(directory) / "states"
        if not place.exists():
            build(place)
        warm(place)
        end, number, failures = time.monotonic() + 60 * asked.minutes, 0, 0
        for outcome in trials(place, asked.seed, asked.kind or sorted(KINDS)):
            number += 1
            if not outcome.is_clear:
                failures += 1
                print(f"{outcome.kind} {outcome.seed}: {outcome.damage}: {outcome.command}: {outcome.code}")
                print("   ", "\n    ".join(outcome.said.splitlines()[:6]), flush=True)
            if number % 100 == 0:
                print(f"{number} trials", flush=True)
            if time.monotonic() > end:
                break
        print(f"{number} trials, {failures} without a clear answer")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

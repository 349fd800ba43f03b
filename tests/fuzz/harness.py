"""One fuzzing process: bytes in, one command run in this process, and anything but a clear answer is a failure.

    python tests/fuzz/harness.py fuzz TARGET WORKPLACE [options of libFuzzer] [corpus directories]
    python tests/fuzz/harness.py replay TARGET FILE [--in WORKPLACE]
    python tests/fuzz/harness.py minimise TARGET FILE OUTPUT --in WORKPLACE
    python tests/fuzz/harness.py states KINDS WORKPLACE SECONDS TRIALS SEED

A clear answer is the exit code 0, 1, 2 or 3 without a traceback and without anything that steers a terminal.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS_PER_INPUT = 20
"""Most processor time for one input; a loaded machine is no failure."""
SECONDS_UNTIL_STUCK = 120
"""Most time by the clock: what waits for something uses no processor."""
MEGABYTES = 3000
"""Most memory of a process."""
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys or that turn text around."""


class Failure(Exception):  # noqa: N818
    """An input that aidos did not answer clearly; the text says how, without the input."""


def attempt(target, data: bytes, place: Path) -> None:
    """Run the command that the input chooses; Failure when it is not answered clearly."""
    place.mkdir()
    begun = time.process_time()
    try:
        with _in_memory() as out, _in_memory() as err:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = _answer(target, data, place)
            shown, said = (stream.seek(0) or stream.read() for stream in (out, err))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if time.process_time() - begun > SECONDS_PER_INPUT:
        raise Failure(f"more than {SECONDS_PER_INPUT} s of processor time")
    if code == 4 or "a bug in aidos" in said:
        told = re.search(r"a bug in aidos: (.*)", said)
        raise Failure(told.group(1) if told else "a broken promise")
    if code not in {0, 1, 2, 3}:
        raise Failure(f"exit code {code}")
    if "Traceback (most recent call last)" in said:
        raise Failure("a traceback")
    if found := STEERS.search(shown + said):
        raise Failure(f"a character that steers a terminal was printed: U+{ord(found.group()):04X}")


def _in_memory() -> io.TextIOWrapper:
    """A stream with a descriptor, as a terminal has one, that leaves nothing on the disk."""
    return os.fdopen(os.memfd_create("stream"), "w+", encoding="utf-8", errors="replace", newline="")


def _answer(target, data: bytes, place: Path) -> int:
    from aidos.errors import AidosError
    from aidos.surfaces.cli import run

    if target.call is None:
        command, content = target.chosen(data)
        return run([*_words(command, content, place), "--quiet"])
    try:
        return int(target.call(data, place) or 0)
    except AidosError:
        return 2
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise Failure(f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}") from error


def _words(command: str, content: bytes, place: Path) -> list[str]:
    words = []
    for word in command.split():
        if word[0] == "@":
            (place / word[1:]).write_bytes(content)
        where = {"@": place, "%": place, "$": place.parent / "given"}.get(word[0])
        words.append(str(where / word[1:]) if where else word)
    return words


def stand_alone(workplace: Path) -> None:
    """What a command keeps for its user is kept in the workplace, and nobody is asked anything."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "AIDOS_REGISTRY"):
        os.environ[name] = str(workplace / "home" / name)
    os.environ.update(TMPDIR=str(workplace / "temporary"), NUMBA_CACHE_DIR=str(ROOT / ".cache" / "numba"))
    # Ledgers and profiles that others may read are refused unread.
    os.umask(0o077)
    (workplace / "temporary").mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = None
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Charts are drawn from what was read already, and each takes a second.
    sys.modules["vl_convert"] = None
    # Memory is watched by what is used: a limit of the address space would stop libraries that only reserve it.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024**3, resource.RLIM_INFINITY))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def fuzz(name: str, workplace: Path, options: list[str]) -> None:
    """Let libFuzzer choose inputs by the coverage of aidos until its options say stop."""
    import atheris

    known = workplace / "known" / name
    answered = set(known.read_text().splitlines()) if known.is_file() else set()
    # Loops for the compiler stay as they are: it does not understand what counts coverage.
    compiled = [_module(path) for path in (ROOT / "src").rglob("*.py") if "njit" in path.read_text(encoding="utf-8")]
    # The hook stays for the whole run: commands import what is heavy when they are called.
    with atheris.instrument_imports(include=["aidos"], exclude=compiled):
        from targets import TARGETS

        target = TARGETS[name]
        place = workplace / f"{name}.{os.getpid()}"

        def how_it_fails(data: bytes) -> str:
            try:
                attempt(target, data, place)
            except Failure as failure:
                return "" if str(failure) in answered else str(failure)
            return ""

        def one_input(data: bytes) -> None:
            # Only what repeats counts: the first input that needs a compiled loop waits for the compiler.
            if how_it_fails(data) and (how := how_it_fails(data)):
                print(f"FAILURE {how}", file=sys.stderr, flush=True)
                raise Failure(how)

        # Imports and compilation belong to no input.
        for seed in sorted((workplace / "seeds" / name).iterdir())[:3]:
            with contextlib.suppress(Failure):
                attempt(target, seed.read_bytes(), place)
        atheris.Setup([sys.argv[0], *options], one_input)
        atheris.Fuzz()


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def outcome(target, data: bytes, workplace: Path) -> str:
    """How one input ends, in a process of its own; empty when it is answered clearly."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        signal.alarm(SECONDS_UNTIL_STUCK)
        with contextlib.suppress(BaseException):
            try:
                attempt(target, data, workplace / f"{target.name}.{os.getpid()}")
            except Failure as failure:
                os.write(write, str(failure).encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    _, status, used = os.wait4(child, 0)
    shutil.rmtree(workplace / f"{target.name}.{child}", ignore_errors=True)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"stuck for {SECONDS_UNTIL_STUCK} s" if number == signal.SIGALRM else signal.Signals(number).name
    return said or (f"more than {MEGABYTES} MB" if used.ru_maxrss > MEGABYTES * 1024 else "")


def minimise(target, data: bytes, workplace: Path, seconds: float = 60.0) -> tuple[bytes, str]:
    """The smallest input found that ends in the same way, and how that is: pieces are left out, halves first."""
    how = outcome(target, data, workplace)
    end = time.monotonic() + seconds
    piece = len(data) // 2
    while how and piece and time.monotonic() < end:
        at = 0
        while at < len(data) and time.monotonic() < end:
            shorter = data[:at] + data[at + piece :]
            if outcome(target, shorter, workplace) == how:
                data = shorter
            else:
                at += piece
        piece //= 2
    return data, how


def states(kinds: list[str], workplace: Path, seconds: float, most: int, seed: int) -> None:
    """Damage state directories and open them; a line of JSON for each trial."""
    import statedirs

    # Damage may make a file of any size; the children that open it have a limit of their own.
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    statedirs.build(workplace / "states")
    statedirs.warm(workplace / "states")
    end = time.monotonic() + seconds if seconds else float("inf")
    for number, trial in enumerate(statedirs.trials(workplace / "states", seed, kinds), start=1):
        how = "" if trial.is_clear else f"{trial.damage}: aidos {trial.command.split(' /')[0]}: {trial.code}"
        print(json.dumps({"kind": trial.kind, "seed": trial.seed, "how": how}), flush=True)
        if time.monotonic() > end or number == most:
            break


def main(arguments: list[str]) -> int:
    """Run one of the modes."""
    mode, name, *rest = arguments
    if mode == "fuzz":
        stand_alone(Path(rest[0]))
        fuzz(name, Path(rest[0]), rest[1:])
        return 0
    if mode == "states":
        stand_alone(Path(rest[0]))
        states(name.split(","), Path(rest[0]), float(rest[1]), int(rest[2]), int(rest[3]))
        return 0
    from targets import TARGETS, make_given

    given = Path(rest[rest.index("--in") + 1]).resolve() if "--in" in rest else None
    workplace = given or Path(tempfile.mkdtemp(prefix="aidos-fuzz-"))
    data = Path(rest[0]).read_bytes()
    stand_alone(workplace)
    try:
        if given is None:
            make_given(workplace / "given")
        if mode == "replay":
            how = outcome(TARGETS[name], data, workplace)
            print(how or "answered clearly")
            return 1 if how else 0
        smaller, how = minimise(TARGETS[name], data, workplace)
        Path(rest[1]).write_bytes(smaller)
        print(how)
        return 0
    finally:
        if given is None:
            shutil.rmtree(workplace, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`make fuzz`: every target for its share of the time, a table of what was tried, and small inputs for what failed.

    python tests/fuzz/campaign.py --seconds 300
    python tests/fuzz/campaign.py --inputs 100000 --seconds 0     (before a release)
    python tests/fuzz/campaign.py check ledger --seconds 60 --corpus DIR

Inputs that reach new code are kept in the corpus, and the next campaign begins with them. The exit code is 1 when
anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from harness import MEGABYTES, ROOT, SECONDS_UNTIL_STUCK, stand_alone
from statedirs import KINDS
from targets import TARGETS, make_given

HARNESS = Path(__file__).with_name("harness.py")
MOST_RESTARTS = 25
"""A target that keeps ending its process is given up: what it shows by then is enough to mend."""


@dataclass
class Tally:
    """What came of one target."""

    name: str
    inputs: int = 0
    first_coverage: int = 0
    coverage: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    """How inputs failed, each with what replays it."""
    trouble: str = ""
    """Why the target could not be fuzzed at all."""


def run_target(name: str, options: argparse.Namespace, workplace: Path) -> Tally:
    """Fuzz one target until its share of time or inputs is spent; start again after each new failure."""
    tally = Tally(name)
    corpus = options.corpus / name
    corpus.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.share if options.share else float("inf")
    for round_ in range(MOST_RESTARTS):
        left = max(1, int(end - time.monotonic())) if options.share else 0
        runs = options.inputs_each - tally.inputs if options.inputs_each else -1
        if time.monotonic() >= end or (options.inputs_each and runs <= 0):
            break
        log = _fuzz(
            name, workplace, [f"-runs={runs}", f"-max_total_time={left}", f"-seed={options.seed + round_}"], corpus
        )
        ended = _take_in(tally, log)
        if ended == "done" or not _keep_failure(tally, log, options, workplace):
            break
    print(f"fuzz: {name}: {tally.inputs} inputs, {len(tally.failures)} failures", file=sys.stderr, flush=True)
    return tally


def _fuzz(name: str, workplace: Path, options: list[str], corpus: Path) -> str:
    """One process of libFuzzer; what it wrote to its log."""
    limits = [f"-timeout={SECONDS_UNTIL_STUCK}", f"-rss_limit_mb={MEGABYTES}", "-max_len=65536", "-len_control=0"]
    limits.append(f"-report_slow_units={SECONDS_UNTIL_STUCK}")
    form = ["-print_final_stats=1", "-detect_leaks=0", "-reload=0", f"-artifact_prefix={workplace / 'found' / name}."]
    places = [str(corpus), str(workplace / "seeds" / name)]
    command = [sys.executable, str(HARNESS), "fuzz", name, str(workplace), *options, *limits, *form, *places]
    # The log may quote the input: it stays in memory, and only what the harness says about a failure is shown.
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    return done.stderr + f"\nEXIT {done.returncode}"


def _take_in(tally: Tally, log: str) -> str:
    """Add what one process did; "done" when it ended by itself."""
    covered = [int(number) for number in re.findall(r"\bcov: (\d+)", log)]
    executed = re.findall(r"stat::number_of_executed_units: (\d+)", log) or re.findall(r"(?m)^#(\d+)\t", log)
    tally.inputs += int(executed[-1]) if executed else 0
    if covered:
        begun = re.search(r"INITED cov: (\d+)", log)
        tally.first_coverage = tally.first_coverage or (int(begun.group(1)) if begun else covered[0])
        tally.coverage = max(tally.coverage, *covered)
    elif not executed:
        tally.trouble = log.strip().splitlines()[-2] if log.strip().count("\n") else "nothing was run"
    return "done" if log.endswith("EXIT 0") else "failed"


def _keep_failure(tally: Tally, log: str, options: argparse.Namespace, workplace: Path) -> bool:
    """Minimise what was found and keep it; False when there is nothing to go on with."""
    found = sorted((workplace / "found").glob(f"{tally.name}.*"), key=lambda path: path.stat().st_mtime)
    if not found:
        tally.trouble = tally.trouble or "the process ended without an input: " + log.strip().splitlines()[-2]
        return False
    smaller = workplace / "smaller" / tally.name
    command = [sys.executable, str(HARNESS), "minimise", tally.name, str(found[-1]), str(smaller)]
    done = subprocess.run([*command, "--in", str(workplace)], check=False, capture_output=True, text=True)
    said = re.findall(r"(?m)^FAILURE (.*)$", log) or re.findall(r"ERROR: libFuzzer: ([\w ]+)", log) or ["ended"]
    how = done.stdout.strip().splitlines()[-1:] or [f"{said[-1]} (only after other inputs)"]
    repeated = how[0] in tally.failures
    kept = options.failures / f"{tally.name}-{len(tally.failures) + 1}"
    if not repeated:
        shutil.copyfile(smaller if done.stdout.strip() else found[-1], kept)
        tally.failures[how[0]] = f"tests/fuzz/harness.py replay {tally.name} {os.path.relpath(kept)}"
    with (workplace / "known" / tally.name).open("a") as known:
        known.write("".join(f"{line}\n" for line in {how[0], said[-1]}))
    for path in found:
        path.unlink()
    # What raises is passed over from now on; what ends the process would end it again and again.
    return not repeated or bool(re.search(r"(?m)^FAILURE ", log))


def run_states(options: argparse.Namespace, workplace: Path) -> list[Tally]:
    """Damage every kind of state directory in turn; one process makes them once and tries one after the other."""
    tallies = {kind: Tally(kind) for kind in options.kinds}
    numbers = [options.states_share, options.inputs_each * len(tallies), options.seed]
    words = ["states", ",".join(tallies), str(workplace), *map(str, numbers)]
    done = subprocess.run([sys.executable, str(HARNESS), *words], check=False, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        trial = json.loads(line)
        tally = tallies[trial["kind"]]
        tally.inputs += 1
        if trial["how"]:
            replay = f"tests/fuzz/statedirs.py --minutes 0 --kind '{tally.name}' --seed {trial['seed']}"
            tally.failures.setdefault(trial["how"], replay)
    for tally in tallies.values():
        tally.trouble = "" if done.returncode == 0 and tally.inputs else (done.stderr.strip().splitlines() or ["?"])[-1]
    return list(tallies.values())


def prepare(names: list[str], workplace: Path) -> None:
    """Make what all processes share: the given files and the seeds."""
    stand_alone(workplace)
    make_given(workplace / "given")
    for folder in ("found", "known", "smaller"):
        (workplace / folder).mkdir()
    for name in names:
        (workplace / "seeds" / name).mkdir(parents=True)
        for number, data in enumerate(TARGETS[name].seed_inputs(workplace / "given")):
            (workplace / "seeds" / name / f"{number:04}").write_bytes(data)


def show(tallies: list[Tally]) -> None:
    """The table, and how to replay what failed."""
    print(f"{'target':<21}{'inputs':>8}{'coverage':>10}{'new':>7}{'failures':>10}")
    for tally in tallies:
        new = tally.coverage - tally.first_coverage
        print(
            f"{tally.name:<21}{tally.inputs:>8}{tally.coverage:>10}{new:>7}{len(tally.failures):>10}  {tally.trouble}"
        )
    inputs, failures = sum(tally.inputs for tally in tallies), sum(len(tally.failures) for tally in tallies)
    print(f"{'all':<21}{inputs:>8}{'':>17}{failures:>10}")
    for tally in tallies:
        for how, replay in tally.failures.items():
            print(f"\n{tally.name}: {how}\n  .venv/bin/python {replay}")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options; seconds and inputs are shared out among the targets."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="*", help="which targets, see targets.py, or states; all unless given")
    parser.add_argument("--seconds", type=float, default=300, help="time for all together; 0: no limit but --inputs")
    parser.add_argument("--inputs", type=int, default=0, help="inputs for all together; 0: no limit but --seconds")
    parser.add_argument("--seed", type=int, default=0, help="repeatable choice of inputs; by the clock unless given")
    parser.add_argument("--corpus", type=Path, default=ROOT / ".cache" / "fuzz" / "corpus", help="grows with each run")
    parser.add_argument("--failures", type=Path, default=ROOT / ".cache" / "fuzz" / "failures", help="small inputs")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - {*TARGETS, "states"}:
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    if not options.seconds and not options.inputs:
        parser.error("give --seconds or --inputs")
    options.kinds = list(KINDS) if "states" in options.targets or not options.targets else []
    options.targets = [name for name in options.targets or TARGETS if name != "states"]
    options.seed = options.seed or int(time.time())
    several = len(options.targets) + len(options.kinds)
    options.inputs_each = -(-options.inputs // several)
    options.states_share = min(options.seconds, options.seconds * options.workers * len(options.kinds) / several)
    left = options.seconds * options.workers - options.states_share
    options.share = left / len(options.targets) if options.targets else 0
    return options


def main(arguments: list[str]) -> int:
    """Run the campaign; 1 when anything failed, 2 when it could not be run."""
    options = parse(arguments)
    try:
        import atheris  # noqa: F401
    except ImportError:
        print("fuzz: atheris is not installed; there are packages of it for Linux on x86_64 only", file=sys.stderr)
        return 2
    shutil.rmtree(options.failures, ignore_errors=True)
    options.failures.mkdir(parents=True)
    workplace = Path(tempfile.mkdtemp(prefix="aidos-fuzz-"))
    try:
        prepare(options.targets, workplace)
        with ThreadPoolExecutor(options.workers) as pool:
            states = pool.submit(run_states, options, workplace) if options.kinds else None
            tallies = list(pool.map(lambda name: run_target(name, options, workplace), options.targets))
            tallies += states.result() if states else []
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    show(tallies)
    return 1 if any(tally.failures or tally.trouble for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

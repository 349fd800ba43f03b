"""Run the benchmarks one after the other, and tell which are beyond their limits.

    python tools/bench.py [--tell] [NAME ...]

A benchmark exits with 3 when it is slower or larger than its limit, and with another code when it failed: a wrong
result, or an error. One beyond its limit is run again after all others: a shared machine has minutes in which
everything takes twice as long. What is slower by itself stays beyond its limit each time. The exit code is 1 when one
failed, and 3 when one stays beyond its limit.

With --tell each runs once, and limits are told but do not decide: for machines whose speed nobody knows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
TURNS = 3
PAUSE = 20
"""Seconds to wait before what was too slow is run again."""
BEYOND = 3
"""The exit code of a benchmark beyond its limit, and of this program."""


def main(names: list[str], *, tell: bool) -> int:
    """Run the named benchmarks, or all; give the exit code."""
    left = [BENCHMARKS / f"{name}.py" for name in names] or sorted(BENCHMARKS.glob("*.py"))
    failed: list[str] = []
    for turn in range(1 if tell else TURNS):
        if turn:
            print(f"== beyond their limits: {listed(left)}; once more", flush=True)
            time.sleep(PAUSE)
        codes = {each: run(each) for each in left}
        failed += [each.stem for each, code in codes.items() if code not in (0, BEYOND)]
        left = [each for each, code in codes.items() if code == BEYOND]
        if not left:
            break
    if left:
        print(f"beyond their limits: {listed(left)}" + (" (on this machine, now)" if tell else ""))
    if failed:
        print(f"failed: {', '.join(failed)}")
        return 1
    return BEYOND if left and not tell else 0


def listed(benchmarks: list[Path]) -> str:
    """Their names."""
    return ", ".join(each.stem for each in benchmarks)


def run(benchmark: Path) -> int:
    """Run one, which prints its own table; give its exit code."""
    print(f"== {benchmark.stem}", flush=True)
    began = time.monotonic()
    code = subprocess.run([sys.executable, benchmark], check=False).returncode
    print(f"== {benchmark.stem}: {time.monotonic() - began:.0f} s", flush=True)
    return code


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("names", nargs="*", metavar="NAME")
    asked.add_argument("--tell", action="store_true", help="run each once; limits do not decide")
    given = asked.parse_args()
    sys.exit(main(given.names, tell=given.tell))

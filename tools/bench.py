"""Run the benchmarks one after the other, and tell which are beyond their limits.

    python tools/bench.py [NAME ...]

A benchmark beyond its limit is run again after all others: a shared machine has minutes in which everything takes
twice as long. What is slower by itself stays beyond its limit each time. The exit code is 1 when one does.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
TURNS = 3
PAUSE = 20
"""Seconds to wait before what failed is run again."""


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; give the exit code."""
    left = [BENCHMARKS / f"{name}.py" for name in names] or sorted(BENCHMARKS.glob("*.py"))
    for turn in range(TURNS):
        if turn:
            print(f"== beyond their limits: {', '.join(each.stem for each in left)}; once more", flush=True)
            time.sleep(PAUSE)
        left = [each for each in left if not within_limits(each)]
        if not left:
            return 0
    print(f"beyond their limits each time: {', '.join(each.stem for each in left)}")
    return 1


def within_limits(benchmark: Path) -> bool:
    """Whether a benchmark ended well; it prints its own table."""
    print(f"== {benchmark.stem}", flush=True)
    began = time.monotonic()
    code = subprocess.run([sys.executable, benchmark], check=False).returncode
    print(f"== {benchmark.stem}: {time.monotonic() - began:.0f} s", flush=True)
    return code == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

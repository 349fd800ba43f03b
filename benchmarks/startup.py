"""How long the command line takes to answer.

    python benchmarks/startup.py

The best of fifteen runs of ``aidos --version`` and ``aidos --help``, each in a fresh process. The exit code is 3 when
one of them takes more than half a second.
"""

from __future__ import annotations

import subprocess
import sys
import time

LONGEST = 0.5
ROUNDS = 15


def seconds(option: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "aidos", option], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> int:
    best = {option: min(seconds(option) for _ in range(ROUNDS)) for option in ("--version", "--help")}
    for option, took in best.items():
        print(f"aidos {option:10}{took:6.2f} s (at most {LONGEST})")
    return 3 if max(best.values()) > LONGEST else 0


if __name__ == "__main__":
    sys.exit(main())

"""How fast the world writes its log on one core, and that memory does not grow with it.

    python benchmarks/world.py [people ...]

Each size runs in a fresh process on one core. The verdict is on processor time, so that other work on the machine does
not fail it; the clock's time stands beside it. Ends with status 3 below 500,000 rows a second, or when the peak of
memory grows by more than a fifth from the smallest to the largest size.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WANTED = 500_000
GROWTH = 1.2
SIZES = ("20000", "100000")


def measure(size: str) -> None:
    """Write one log and print what it took; runs in a process of its own."""
    import pyarrow as pa

    from aidos.world.size import World
    from aidos.world.write import write_sample

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "log.parquet"
        clock, processor = time.perf_counter(), time.process_time()
        rows = write_sample("log", World(size), path)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(
            json.dumps(
                {"rows": rows, "clock": clock, "processor": processor, "peak": peak, "bytes": path.stat().st_size}
            )
        )


def run(size: str) -> dict[str, float]:
    """Measure one size on one core."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pinned = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if Path("/usr/bin/taskset").exists() else []
    command = [*pinned, sys.executable, __file__, "--measure", size]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(sizes: tuple[str, ...]) -> int:
    """Print a table; give the exit status."""
    print(f"{'people':>10} {'rows':>12} {'rows/s processor':>20} {'rows/s clock':>16} {'peak MB':>9} {'bytes/row':>10}")
    found = []
    for size in sizes:
        one = run(size)
        found.append(one)
        print(
            f"{size:>10} {one['rows']:>12,.0f} {one['rows'] / one['processor']:>20,.0f} "
            f"{one['rows'] / one['clock']:>16,.0f} {one['peak'] / 1e6:>9,.0f} {one['bytes'] / one['rows']:>10.1f}",
            flush=True,
        )
    slow = any(one["rows"] / one["processor"] < WANTED for one in found)
    grown = found[-1]["peak"] > GROWTH * found[0]["peak"]
    print("too slow" if slow else "fast enough", "and memory grows" if grown else "in constant memory", sep=", ")
    return 3 if slow or grown else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        sys.exit(main(tuple(sys.argv[1:]) or SIZES))

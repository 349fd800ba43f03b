"""`aidos sample`: write a part of the sample world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, show_json, tell

__all__ = ["sample"]

Part = Literal["log", "posts", "documents", "results", "rankings", "truth"]


def sample(
    part: Part,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    size: str = "small",
    seed: int = 7,
    topics: int = 52,
    common: Common | None = None,
) -> int:
    """Write a part of the sample world: synthetic, seeded, with the truth known.

    The same size, seed and topics give the same bytes, on any number of
    threads. The file says that it is synthetic and how to make it again.

    For example:
        aidos sample log --size small --seed 7 -o log.parquet
        aidos sample log --size medium -o log.tsv        (the layout of the AOL log)
        aidos sample posts -o posts.parquet
        aidos sample truth -o truth.parquet              (who is afflicted, professional, curious)

    Parameters
    ----------
    part
        What to write.
    output
        The file to write; its ending chooses the format.
    size
        tiny, small, medium (100,000 people), aol (650,000 people, 36 million log rows), or a number of people.
    seed
        Another seed is another world.
    topics
        How many topics of the default taxonomy are in use.
    """
    import pyarrow as pa

    from aidos.world.size import World
    from aidos.world.write import write_sample

    pa.array([])  # with its first array it loads pandas, where that is installed; not to be counted as work
    common = common or Common()
    world = World(size=size, seed=seed, topics=topics)
    rows = write_sample(part, world, output, TerminalProgress(quiet=common.quiet))
    if common.json:
        show_json({"part": part, "file": str(output), "rows": rows, "size": size, "seed": seed, "topics": topics})
    else:
        tell(f"{output}: {rows:,} rows, synthetic (size {size}, seed {seed})", quiet=common.quiet)
    return 0

"""Train the topic model that comes with aidos, on posts of a made-up world, and write it beside the package.

The world uses every topic of the taxonomy, so that every sensitive one is written about. People there write far more
about ordinary things, so posts are taken evenly: the first of each forum, up to a limit. Nobody's text is in it. The
words of each forum guide a topic, as unlike forums would share some otherwise.

One thread and a fixed seed: the same file again, with the same versions of NumPy, tomotopy and zlib on a processor of
the same kind; elsewhere numbers may differ in their last digits, and topics in their order.
Run it as: python tools/train_risk.py [FILE]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from aidos.model.latent.matching import match
from aidos.model.latent.model import default_file
from aidos.model.latent.training import train_topics
from aidos.model.sensitive import TopicSet
from aidos.model.topics import default_taxonomy
from aidos.world.posts import post_blocks
from aidos.world.size import World

PEOPLE = 120_000
POSTS_OF_A_FORUM = 150
MORE_TOPICS = 60
"""Beyond one for each forum: for words that are in all of them."""
ITERATIONS = 150
SEED = 7


def main() -> int:
    """Train, save, and say how well it went."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default_file()
    forums = default_taxonomy().leaves()
    posts = even_posts(World(size=PEOPLE, seed=SEED, topics=len(forums)))
    print(f"{posts.num_rows} posts of {len(forums)} forums")
    begin = time.process_time()
    model = train_topics(
        posts["text"],
        people=posts["author_id"].to_pylist(),
        topics=len(forums) + MORE_TOPICS,
        guides=[forum.words for forum in forums],
        iterations=ITERATIONS,
        seed=SEED,
        note=(
            "Trained on posts of a made-up world (tools/train_risk.py): no text of a real person is in it. "
            "It knows the words of the taxonomy that comes with aidos and few others."
        ),
    )
    model.save(path)
    path.chmod(0o644)
    topics = TopicSet.default()
    found = match(model, topics)
    print(f"{len(model)} topics, {len(model.words)} words, {time.process_time() - begin:.0f} s of work")
    print(f"mean coherence {float(np.nanmean(model.coherences)):.2f}")
    print(f"{len(found.dimensions)} of {len(topics)} sensitive topics have a latent one")
    print(f"without: {', '.join(one.topic for one in found.found if one.latent is None) or 'none'}")
    print("\n".join(found.warnings))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    return 0


def even_posts(world: World) -> pa.Table:
    """The posts of a world, at most so many of each forum, in the order of the world."""
    seen: dict[str, int] = {}
    taken = []
    for block in post_blocks(world):
        forums = block["forum"].to_pylist()
        keep = []
        for forum in forums:
            seen[forum] = seen.get(forum, 0) + 1
            keep.append(seen[forum] <= POSTS_OF_A_FORUM)
        taken.append(block.select(["text", "author_id", "forum"]).filter(pa.array(keep)))
    return pa.concat_tables(taken)


if __name__ == "__main__":
    raise SystemExit(main())

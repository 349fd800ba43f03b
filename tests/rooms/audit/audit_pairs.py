"""Small pairs of lists for the tests: queries of different lengths over items with random topic maps."""

import numpy as np
from hypothesis import strategies as st

from aidos.rooms.audit.arrays import PairArrays, TopicMaps


def draw_pairs(generator, *, queries=6, topics=4, longest=6, shortest=1, shared=True):
    lengths = generator.integers(shortest, longest + 1, queries)
    maps = generator.dirichlet(np.full(topics, 0.3), longest * 3 if shared else int(lengths.sum()))
    maps[maps < 0.05] = 0
    vanilla, used = [], 0
    for length in lengths:
        items = generator.choice(len(maps), length, replace=False) if shared else np.arange(used, used + length)
        vanilla.append(items.tolist())
        used += length
    personalised = [generator.permutation(items).tolist() for items in vanilla]
    return PairArrays.from_lists(vanilla, personalised, TopicMaps.from_dense(maps))


@st.composite
def small_pairs(draw, shortest=1):
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    return draw_pairs(
        generator,
        queries=draw(st.integers(1, 12)),
        topics=draw(st.integers(1, 5)),
        longest=draw(st.integers(max(shortest, 2), 7)),
        shortest=shortest,
    )


def noisy_views(generator, *, queries=150, topics=30, length=10, first_about=None):
    """Three noisy views of the same rankings: no profile anywhere. Returns pairs and the control."""
    maps = generator.dirichlet(np.full(topics, 0.05), queries * length)
    views = [[], [], []]
    for query in range(queries):
        items = np.arange(query * length, (query + 1) * length)
        if first_about is not None:
            maps[items[0]] = np.eye(topics)[first_about]
        for view in views:
            view.append(items[np.argsort(np.arange(length) + generator.normal(0, 2, length))].tolist())
    known = TopicMaps.from_dense(maps)
    return PairArrays.from_lists(views[0], views[1], known), PairArrays.from_lists(views[0], views[2], known)


def found_share(scores, topics):
    """R-precision: of as many topics as there are, the share that stands at the top."""
    return float(np.isin(np.argsort(-scores, kind="stable")[: len(topics)], topics).mean())

"""Arrays of an exposure directory: written whole, for the owner alone, and checked and mapped when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aidos.engine.files import replace_when_done
from aidos.engine.sealed import Spec, check_arrays, damage, map_array
from aidos.model.retrieval.index import Index
from aidos.rooms.exposure.queries.layout import AGAIN, ARRAYS, BETWEEN
from aidos.rooms.exposure.queries.manifest import Facts, make_directory

__all__ = ["load_arrays", "load_statistics", "open_index", "parquet_writer", "save_arrays"]


def save_arrays(directory: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write each array to a file of its name; who has mapped an older one keeps it."""
    make_directory(directory)
    for name, array in arrays.items():
        with replace_when_done(directory / f"{name}.npy", private=True) as partial, partial.open("wb") as file:
            np.save(file, array, allow_pickle=False)


def load_arrays(target: Path, group: str, facts: Facts, **sizes: int) -> dict[str, NDArray[Any]]:
    """Map the arrays of one directory of ``target``, if they are as they were written and what `layout` says."""
    found = {}
    for name in ARRAYS[group]:
        place = f"{group}/{name}.npy"
        if place in facts.files:
            facts.files[place].check(target, again=AGAIN)
        found[name] = map_array(target / place, again=AGAIN)
    check_arrays(target / group, found, ARRAYS[group], {"posts": facts.documents, **sizes}, again=AGAIN)
    return found


def load_statistics(target: Path, facts: Facts) -> dict[str, NDArray[Any]]:
    """The statistics, whose arrays say themselves how many words and members there are."""
    words, members = (
        map_array(target / "statistics" / f"{name}.npy", again=AGAIN).size for name in ("terms", "first_posts")
    )
    found = load_arrays(target, "statistics", facts, words=words, members=members - 1)
    # Posts in the order of ties, each of them once.
    order = {"precedence": found["precedence"] >> BETWEEN}
    spec = Spec(kind=np.int64, shape=("posts",), below="posts", distinct=True)
    check_arrays(target, order, {"precedence": spec}, {"posts": facts.documents}, again=AGAIN)
    return found


def open_index(target: Path, facts: Facts, words: int) -> Index:
    """The retrieval index of the posts, if it is of as many posts and words as the statistics, and none too long."""
    index = Index.open(target / "index")
    # Scores are looked up by length; in a language without words all posts are empty.
    longest = facts.settings.longest_post if facts.tokens else 0
    if (
        len(index.vocabulary) != words
        or sum(map(len, index.segments)) != facts.documents
        or any(segment.longest > longest for segment in index.segments)
    ):
        raise damage(target, "its index and its statistics do not belong together", AGAIN)
    return index


@contextmanager
def parquet_writer(path: Path, schema: pa.Schema, **options: Any) -> Iterator[pq.ParquetWriter]:
    """A Parquet file that is whole or not there, for the owner alone."""
    # Every page has a checksum, which is compared whenever it is read.
    options["write_page_checksum"] = True
    with replace_when_done(path, private=True) as partial, pq.ParquetWriter(partial, schema, **options) as writer:
        yield writer

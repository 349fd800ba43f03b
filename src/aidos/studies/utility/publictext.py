"""Public lists for the strict pool release, from the searched collection: what anybody can read there.

Zhang et al. (2016) expand the log's queries with frequent n-grams of general English. Here the frequent n-grams of the
collection stand for them, and the public results of such a query are those that a plain search of the collection finds.
Neither looks at the log, so that the promise of the strict release holds with them.
"""

from __future__ import annotations

from aidos.engine.embedded import EmbeddedTable
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.search import search_batch
from aidos.model.text.analyser import Analyser
from aidos.studies.utility.caching import WORD

__all__ = ["public_queries", "public_results"]

LONGEST = 3
"""Words of an n-gram, at most."""
RESULTS = 10
"""Public results of a query."""


def public_queries(documents: EmbeddedTable, most: int) -> tuple[str, ...]:
    """The n-grams of up to three words that most documents have."""
    grams = " union all ".join(
        f"select number, unnest(list_transform(range(1, len(words) + {2 - length}), "
        f"lambda first: array_to_string(words[first : first + {length - 1}], ' '))) as gram from split"
        for length in range(1, LONGEST + 1)
    )
    found = documents.rows(
        f"with split as (select row_number() over () as number, regexp_extract_all(lower(text), '{WORD}') as words "
        f"from {{table}} where text is not null) select gram from ({grams}) group by gram "
        f"order by count(distinct number) desc, gram limit {most}",
        label="reading public phrases",
    )
    return tuple(str(row[0]) for row in found)


def public_results(documents: EmbeddedTable, queries: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The results of each query by query likelihood over the collection."""
    texts = documents.fetch("select object_id, text from {table} where object_id is not null and text is not null")
    index = Index.build(texts, analyser=Analyser(), columns=("object_id", "text"))
    found = search_batch(index, queries, size=RESULTS).ids()
    return tuple((query, name) for query, names in zip(queries, found, strict=True) for name in names)

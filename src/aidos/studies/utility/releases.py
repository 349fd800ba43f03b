"""Releases that are simulated: the catalogue's own mechanisms over numbered contributions, and Adar's comparator.

A simulation has a seed, so that it can be repeated; whoever knows it can take the noise off again. So nothing released
here carries a guarantee: the guarantee that is told beside it is the one that the same mechanism would give without.

k-query anonymity publishes a log under a new number for each visit: whoever counts there counts visits, not people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import exp
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.guarantee import Guarantee
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.rooms.publish.count_gaussian import CountGaussian
from aidos.rooms.publish.histogram import PEOPLE
from aidos.rooms.publish.laplace_threshold import LaplaceThreshold
from aidos.rooms.publish.multi import HistogramMechanism
from aidos.rooms.publish.policy_gaussian import PolicyGaussian
from aidos.rooms.publish.rounds import Rounds
from aidos.rooms.publish.steered import SteeredCounts, SteeredRounds
from aidos.rooms.publish.truncated_geometric import TruncatedGeometric
from aidos.rooms.publish.weighted_gaussian import WeightedGaussian
from aidos.rooms.publish.zealous import Zealous
from aidos.studies.utility.originals import Originals
from aidos.studies.utility.plan import ANONYMOUS, ORIGINAL, PAPER, Setting

__all__ = [
    "COMPARED",
    "DRAWING",
    "FEWEST",
    "REPLACING",
    "Published",
    "build_mechanism",
    "fresh_noise",
    "guarantee_of",
    "is_possible",
    "simulate",
]

COMPARED: Mapping[str, type] = MappingProxyType(
    {
        "zealous": Zealous,
        PAPER: Zealous,
        "laplace-threshold": LaplaceThreshold,
        "count-gaussian": CountGaussian,
        "steered-counts": SteeredCounts,
        "truncated-geometric": TruncatedGeometric,
        "weighted-gaussian": WeightedGaussian,
        "policy-gaussian": PolicyGaussian,
        "rounds": Rounds,
        "steered-rounds": SteeredRounds,
    }
)
"""Mechanisms over contributions, by name; the last five publish no counts."""
REPLACING = frozenset({"zealous", PAPER})
"""Those whose promise is about one person replaced by another, and with that about one added or removed as well."""
FEWEST = 2
"""People of a log; how many there are decides nothing about what is possible."""
DRAWING = frozenset({"rounds", "steered-counts", "steered-rounds"})
"""Those that look at more of a person's items than they keep, or several times."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Published:
    """Items that came through, by number."""

    items: NDArray[np.int64]
    counts: NDArray[np.int64] | None
    """None where the mechanism publishes no counts."""

    def dense(self, size: int) -> NDArray[np.int64]:
        """The count of each of so many items; 0 for what was not published, 1 where there are no counts."""
        found = np.zeros(size, np.int64)
        found[self.items] = 1 if self.counts is None else self.counts
        return found


def build_mechanism(setting: Setting, people: int) -> HistogramMechanism:
    """The mechanism of a setting; where it says so, its promise for one person replaced is earned by a stricter one.

    Replacing a person is removing one and adding another: (epsilon, delta) for each of the two steps is (2 epsilon, (1
    + e^epsilon) delta) for both.
    """
    kind = COMPARED.get(setting.mechanism)
    if kind is None or setting.epsilon is None or setting.delta is None:
        raise ParameterError(f"{setting.name} is no setting of a mechanism over contributions")
    epsilon, delta = setting.epsilon, setting.delta
    if setting.halved and setting.mechanism not in REPLACING:
        epsilon, delta = epsilon / 2, delta / (1 + exp(epsilon / 2))
    given: dict[str, object] = {"epsilon": epsilon, "delta": delta, "items_per_person": setting.items_per_person}
    if setting.mechanism == PAPER:
        given |= {"promise": "probabilistic", "people": people}
    made: HistogramMechanism = kind(**given)
    return made


def is_possible(setting: Setting) -> bool:
    """Whether its mechanism takes these parameters: some have a highest limit on items."""
    try:
        guarantee_of(setting, FEWEST)
    except ParameterError:
        return False
    return True


def guarantee_of(setting: Setting, people: int) -> Guarantee:
    """What the mechanism of a setting promises when its noise is drawn without a seed."""
    return build_mechanism(setting, people).guarantee(PublicFacts(people=people))


def fresh_noise(seed: int, *words: object) -> Noise:
    """Noise of its own for each setting and kind, the same on every run."""
    told = "\x1f".join(map(str, (seed, *words)))
    return Noise(int.from_bytes(sha256(told.encode()).digest()[:8], "big"))


def simulate(
    engine: EmbeddedEngine, originals: Originals, setting: Setting, kinds: Sequence[str], *, seed: int
) -> dict[str, Published]:
    """One release of some kinds, each with noise of its own; kinds that the mechanism does not publish are missing."""
    if setting.mechanism == ORIGINAL:
        counts = {kind: originals.counts(kind) for kind in kinds}
        return {kind: Published(items=np.arange(len(known)), counts=known) for kind, known in counts.items()}
    if setting.mechanism == ANONYMOUS:
        return _anonymous(engine, originals, setting, [kind for kind in kinds if kind in _VISITS])
    mechanism = build_mechanism(setting, originals.people)
    # The draw that settings share leaves a mechanism less to bound; repetitions are to differ by their draws, too.
    limit = None if setting.mechanism in DRAWING or setting.repeat else setting.items_per_person
    made = {}
    for kind in kinds:
        noise = fresh_noise(seed, setting.name, kind)
        histogram = mechanism.run(originals.contributions(engine, kind, limit), noise)
        known = _integers(histogram.table, PEOPLE) if histogram.has_counts else None
        made[kind] = Published(items=_integers(histogram.table, "item"), counts=known)
    return made


_VISITS = {
    "queries": "select user_query as item, count(*) as visits from (select distinct {visit}, user_query from {{table}})"
    " group by 1",
    "keywords": """
        select item, count(*) as visits from (
            select distinct {visit}, w.item from {{table}} join {words} w using (user_query)
        ) group by 1
    """,
    "pairs": """
        select user_query, next_query, count(*) as visits from (
            select distinct {visit}, user_query,
                lead(user_query) over (partition by {visit} order by "timestamp") as next_query
            from {{table}}
        ) where next_query <> user_query group by all
    """,
}
"""Visits with each item of a k-anonymous log; the fresh numbers that it gives visits change no count."""


def _anonymous(
    engine: EmbeddedEngine, originals: Originals, setting: Setting, kinds: Sequence[str]
) -> dict[str, Published]:
    """What can be counted in Adar's log: visits with each item, of queries that at least k people asked."""
    if setting.k is None:
        raise ParameterError(f"{setting.name} has no k")
    made = {}
    # Queries are numbered by falling numbers of people, so those of at least k are the first ones.
    kept = int(np.count_nonzero(originals.counts("queries") >= setting.k))
    asked = originals.askings(engine).select(f"select * from {{table}} where user_query < {kept}")
    for kind in kinds:
        words = originals.query_words(engine).name if kind == "keywords" else ""
        counted: Table = asked.select(_VISITS[kind].format(visit="client_id, session_id", words=words))
        if kind == "pairs":
            counted = _numbered_pairs(engine, originals, counted)
        found = counted.fetch("select item, visits from {table} order by item")
        made[kind] = Published(items=_integers(found, "item"), counts=_integers(found, "visits"))
    return made


def _numbered_pairs(engine: EmbeddedEngine, originals: Originals, counted: Table) -> Table:
    """Pairs by number; those that follow each other only since what stood between is gone are no pairs of the log."""
    pairs = originals.items("pairs")
    known = engine.table(pairs.append_column("item", pa.array(np.arange(len(pairs)))))
    return counted.select(
        f"select k.item, t.visits from {{table}} t join {known.name} k using (user_query, next_query)"
    )


def _integers(table: pa.Table, name: str) -> NDArray[np.int64]:
    values: NDArray[np.int64] = table.column(name).to_numpy().astype(np.int64)
    return values

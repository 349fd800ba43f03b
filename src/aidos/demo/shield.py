"""The demo's chapter on generalised profiles: one searcher, one ambiguous query, and what would leave her machine.

The searcher is somebody of the sample world with something to hide; the query is the one that shows it best.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.core.profile import BuiltProfile, KeptProfile, Kind
from aidos.demo.chapter import Outcome, Workplace
from aidos.errors import InputError
from aidos.ingest.history.document import make_document
from aidos.model.profilefile import OpenedProfile, taxonomy_name
from aidos.model.taxonomies.opened import OpenedTaxonomy, open_named, searcher
from aidos.report.page import Callout, Chapter, Code, DataTable, Facts, Prose
from aidos.rooms.shield.profile.building import build_profile
from aidos.rooms.shield.profile.explaining import Explained, ExplainQuery, ReadyProfile, explain_query, make_ready
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation
from aidos.rooms.shield.profile.requirement import default_requirement

if TYPE_CHECKING:
    from aidos.model.topicsearch import TopicSearch
    from aidos.rooms.shield.profile.decision import Decision

__all__ = ["Told", "find_searcher", "shield_chapter"]


def shield_chapter(place: Workplace) -> Outcome:
    """Build a searcher's profile from what she searched for, and decide about one of her queries."""
    from aidos.report.values import counted

    told = find_searcher(place)
    shown, topics = len(told.story.decision.shown[1:]), len(told.story.decision.topics[1:])
    return Outcome(
        _chapter(told), "generalised profiles", f"{counted(shown, 'topic', 'topics')} sent, {topics - shown} kept back"
    )


def _chapter(told: Told) -> Chapter:
    from aidos.rooms.shield.profile.generalisation import THREAT_MODEL
    from aidos.rooms.shield.profile.page import STANDING_COLUMNS, standing_rows, tree_block

    story, built, outcomes = told.story, told.built, told.outcomes
    words = THREAT_MODEL
    return Chapter(
        title="A profile that stays at home",
        blocks=(
            Prose(
                "A search service need not keep a profile: it can stay on the searcher's machine, as topics with "
                "counts, and for each query a generalised part of it goes along, or none. Here is the made-up searcher "
                f"{told.person}, her profile built from {built.documents:,} of her searches, and what would leave her "
                f"machine with the ambiguous query \u201c{story.query}\u201d."
            ),
            Facts(
                (
                    ("topics in her profile", len(built.profile.supports)),
                    ("queries sent with some of it", outcomes.get("sent", 0)),
                    ("clear without it", outcomes.get("distinct", 0)),
                    ("nothing in common", outcomes.get("nothing-in-common", 0)),
                )
            ),
            tree_block(story),
            DataTable(
                caption="Before and after: her topics on the query, and what is sent of them",
                columns=STANDING_COLUMNS,
                rows=tuple(standing_rows(story)),
                numeric=STANDING_COLUMNS[1:],
            ),
            Callout("caution", f"{words[:1].upper()}{words[1:]}."),
            Code(
                text=f"aidos shield profile build log.parquet --person {told.person} -o profile.json\n{story.asked}",
                language="command",
            ),
        ),
    )


SEARCHERS = 12
"""How many of the busiest are looked at for one whose profile has something to hide."""
AMBIGUOUS = 0.44
"""Power up to which a query is called ambiguous."""
QUERIES, MOST_TOPICS = 300, 16
BUSIEST = "select client_id from {table} group by client_id order by count(*) desc, client_id limit ?"
ASKED = "select user_query from {table} where client_id = ? and action = 'query' order by timestamp, query_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A searcher, her profile, and the query that shows best what happens."""

    person: str
    built: BuiltProfile
    story: Explained
    outcomes: Mapping[str, int]
    """Her queries by what was decided."""

    @property
    def is_fit(self) -> bool:
        """Whether something sensitive is hidden and something is gained."""
        return _fitness(self.story.decision) > 0


def find_searcher(place: Workplace) -> Told:
    """The first of the busiest searchers with a fitting query, or the one who comes nearest to that."""
    log = place.engine.parquet(place.directory / "log.parquet")
    taxonomy = open_named(None)
    search, _ = searcher(taxonomy)
    told: Told | None = None
    for (person,) in log.rows(BUSIEST, (SEARCHERS,)):
        asked = [str(query) for (query,) in log.rows(ASKED, (person,)) if query]
        told = _tell(str(person), asked, taxonomy, search, told)
        if told.is_fit:
            break
    if told is None:
        raise InputError("nobody searched for anything in this world", hint="make a larger one: --size small")
    return told


def _tell(
    person: str, asked: Sequence[str], taxonomy: OpenedTaxonomy, search: TopicSearch, before: Told | None
) -> Told:
    """The story of one searcher; that of the one before where hers is no better."""
    made = (make_document(Kind.SEARCH_LOG, body=query) for query in asked)
    built = build_profile((document for document in made if document is not None), search)
    ready, terms = _ready(built, taxonomy, search), ProfileGeneralisation()
    queries = list(dict.fromkeys(asked))[:QUERIES]
    decisions = [(query, ready.decide(query, terms)) for query in queries]
    query, decision = max(decisions, key=lambda pair: _fitness(pair[1]))
    if before is not None and _fitness(decision) <= _fitness(before.story.decision):
        return before
    command = f"aidos shield explain {shlex.quote(query)} --profile profile.json"
    story = explain_query(ExplainQuery(query=query), ready, command)
    outcomes = Counter(str(each.outcome) for _, each in decisions)
    return Told(person=person, built=built, story=story, outcomes=outcomes)


def _ready(built: BuiltProfile, taxonomy: OpenedTaxonomy, search: TopicSearch) -> ReadyProfile:
    requirement = default_requirement(taxonomy.imported.taxonomy, built.profile)
    kept = KeptProfile.of(built, taxonomy.tree, requirement, taxonomy=taxonomy_name(taxonomy))
    return make_ready(OpenedProfile(path=Path("profile.json"), kept=kept, taxonomy=taxonomy), search)


def _fitness(decision: Decision) -> float:
    """How much there is to see: the gain, where the query is ambiguous and something sensitive is hidden."""
    hides = any(each.sensitive and each.state == "hidden" for each in decision.topics)
    if not decision.is_sent or not hides or decision.query_power > AMBIGUOUS or len(decision.topics) > MOST_TOPICS:
        return -1.0 if decision.is_sent else -2.0
    return decision.utility

"""What results are taken to be about: topics of a taxonomy, learned ones, given ones, or those of an earlier audit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.errors import InputError, ParameterError
from aidos.jobs.options import OnBundledTaxonomy

if TYPE_CHECKING:
    from aidos.rooms.audit.topics.space import TopicSource

__all__ = ["MODEL", "AboutWhat", "ChosenTopics"]

MODEL = "topics.npz"
"""The file of a directory that holds the topic model, where topics were learned from the results."""
NUMBER = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenTopics:
    """Where topics come from, and what else is known of them."""

    source: TopicSource
    learned: bool = False
    """Whether they are learned from results, and of no taxonomy."""
    ids: tuple[str, ...] | None = None
    """The topics of the earlier audit, which must be the same again."""
    jointly: int | None = None
    """How many topics are to be learned together with the profile; None where they are not."""
    remark: str = ""
    """On the index of the taxonomy, where there is something to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutWhat(OnBundledTaxonomy):
    """Which topics results are about."""

    topics: Literal["taxonomy", "lda"] | None = None
    """Topics of a taxonomy, which the shield knows as well, or lda: learned from the results; taxonomy if unset."""

    number: Annotated[int | None, Ge(2), Le(10_000)] = None
    """How many topics are learned with lda; 50 if unset."""

    topic_maps: Path | None = None
    """A table of your own (CSV or TSV: address, topic, share), in place of --topics."""

    topic_model: Path | None = None
    """A topic model that was learned before, for lda."""

    joint: bool = False
    """Learn the topics of lda together with the profile, from texts and orders; slower, and for small audits."""

    same_topics: Path | None = None
    """The directory of an earlier audit, whose topics are to be used again, so that the two can be compared."""

    def __post_init__(self) -> None:
        check_parameters(self)
        learned = self.topics == "lda" or self.topic_model is not None
        problems = [
            (self.topic_maps is not None and (learned or self.topics), "--topic-maps takes the place of --topics"),
            (self.topic_maps is not None and self.taxonomy, "--topic-maps takes the place of --taxonomy"),
            (self.same_topics is not None and (learned or self.topics), "--same-topics takes the place of --topics"),
            (self.topics == "taxonomy" and self.topic_model, "--topic-model goes with --topics lda"),
            (learned and self.taxonomy is not None, "--taxonomy goes with --topics taxonomy"),
            (self.number is not None and not learned, "--number goes with --topics lda"),
            (self.joint and self.topics != "lda", "--joint goes with --topics lda"),
            (self.joint and self.topic_model, "--topic-model was learned before, --joint learns topics now"),
            (self.number is not None and self.topic_model, "--topic-model has its own number of topics"),
        ]
        if found := next((words for wrong, words in problems if wrong), ""):
            raise ParameterError(found, hint="leave one of them out")

    def choose(self, seed: int) -> ChosenTopics:
        """What the options say."""
        if self.same_topics is not None:
            return self._of_earlier(self.same_topics)
        if self.topic_maps is not None:
            return self._given(self.topic_maps)
        if self.topics == "lda" or self.topic_model is not None:
            return self._learned(self.topic_model, seed)
        return self._of_taxonomy(None)

    def _of_taxonomy(self, only: tuple[str, ...] | None) -> ChosenTopics:
        from aidos.model.taxonomies.opened import open_named, searcher
        from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics

        search, remark = searcher(open_named(self.taxonomy))
        return ChosenTopics(source=TaxonomyTopics(search, only), ids=only, remark=remark)

    def _learned(self, model: Path | None, seed: int, ids: tuple[str, ...] | None = None) -> ChosenTopics:
        from aidos.model.latent.model import TopicModel
        from aidos.rooms.audit.topics.latent import LatentTopics

        if model is not None:
            return ChosenTopics(source=LatentTopics(model=TopicModel.load(model)), learned=True, ids=ids)
        number = NUMBER if self.number is None else self.number
        source, jointly = LatentTopics(number=number, seed=seed), number if self.joint else None
        return ChosenTopics(source=source, learned=True, jointly=jointly)

    def _given(self, table: Path, ids: tuple[str, ...] | None = None) -> ChosenTopics:
        from aidos.rooms.audit.topics.space import GivenTopics, read_topic_maps

        return ChosenTopics(source=GivenTopics(read_topic_maps(table)), ids=ids)

    def _of_earlier(self, place: Path) -> ChosenTopics:
        from aidos.rooms.audit.findings import read_finding

        space = read_finding(place).space
        if space.kind == "taxonomy":
            return self._of_taxonomy(space.ids)
        if space.kind == "latent":
            model = (place if place.is_dir() else place.parent) / MODEL
            if not model.is_file():
                raise InputError(f"the topics of {place} are gone: there is no {model}", hint="audit it again")
            return self._learned(model, 0, space.ids)
        if self.topic_maps is None:
            raise ParameterError(
                f"the topics of {place} were given in a table", hint="give the table again: --topic-maps FILE"
            )
        return self._given(self.topic_maps, space.ids)

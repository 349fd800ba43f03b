"""What results are taken to be about: topics of a taxonomy, learned ones, given ones, or those of an earlier audit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cyclopts import Parameter

from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError

if TYPE_CHECKING:
    from aidos.model.taxonomies.opened import OpenedTaxonomy
    from aidos.rooms.audit.topics.space import TopicSource

__all__ = ["AboutWhat", "ChosenTopics", "read_topic_maps"]

NUMBER = 50
COLUMNS = ("address", "topic", "share")
LARGEST = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenTopics:
    """Where topics come from, and what else is known of them."""

    source: TopicSource
    taxonomy: OpenedTaxonomy | None = None
    """Whose topics they are, where they are of a taxonomy."""
    ids: tuple[str, ...] | None = None
    """The topics of the earlier audit, which must be the same again."""
    jointly: int | None = None
    """How many topics are to be learned together with the profile; None where they are not."""
    remark: str = ""
    """On the index of the taxonomy, where there is something to say."""


@Parameter(name="*", group="What results are about")
@dataclass(frozen=True, slots=True, kw_only=True)
class AboutWhat:
    """Options that choose the topics."""

    topics: Literal["taxonomy", "lda"] | None = None
    """Topics of a taxonomy, which the shield knows as well, or lda: learned from the results; taxonomy unless given."""

    number: int | None = None
    """How many topics are learned with lda; 50 unless given."""

    taxonomy: Path | None = None
    """A file with a taxonomy; the one that comes with aidos unless given."""

    topic_maps: Path | None = None
    """A table of your own (CSV or TSV: address, topic, share), in place of --topics."""

    topic_model: Path | None = None
    """A topic model that was learned before, for lda."""

    joint: bool = False
    """Learn the topics of lda together with the profile, from texts and orders; slower, and for small audits."""

    same_topics: Path | None = None
    """The directory of an earlier audit, whose topics are to be used again, so that the two can be compared."""

    def choose(self, seed: int) -> ChosenTopics:
        """What the options say; ParameterError where they contradict each other."""
        self._refuse()
        if self.same_topics is not None:
            return self._of_earlier(self.same_topics)
        if self.topic_maps is not None:
            return self._given(self.topic_maps)
        if self.topics == "lda" or self.topic_model is not None:
            return self._learned(self.topic_model, seed)
        return self._of_taxonomy(None)

    def words(self) -> list[str]:
        """The options as they would be typed."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        options = {f"--{name.replace('_', '-')}": value for name, value in given.items() if value not in (None, False)}
        return [word for name, value in options.items() for word in ([name] if value is True else [name, str(value)])]

    def _refuse(self) -> None:
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

    def _of_taxonomy(self, only: tuple[str, ...] | None) -> ChosenTopics:
        from aidos.model.taxonomies.opened import open_named, searcher
        from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics

        opened = open_named(self.taxonomy)
        search, remark = searcher(opened)
        return ChosenTopics(source=TaxonomyTopics(search, only), taxonomy=opened, ids=only, remark=remark)

    def _learned(self, model: Path | None, seed: int, ids: tuple[str, ...] | None = None) -> ChosenTopics:
        from aidos.model.latent.model import TopicModel
        from aidos.rooms.audit.topics.latent import LatentTopics

        if model is not None:
            return ChosenTopics(source=LatentTopics(model=TopicModel.load(model)), ids=ids)
        number = NUMBER if self.number is None else self.number
        return ChosenTopics(source=LatentTopics(number=number, seed=seed), jointly=number if self.joint else None)

    def _given(self, table: Path, ids: tuple[str, ...] | None = None) -> ChosenTopics:
        from aidos.rooms.audit.topics.space import GivenTopics

        return ChosenTopics(source=GivenTopics(read_topic_maps(table)), ids=ids)

    def _of_earlier(self, place: Path) -> ChosenTopics:
        from aidos.app.audit.directory import MODEL, read_finding

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


def read_topic_maps(path: Path) -> dict[str, dict[str, float]]:
    """Address or id -> topic -> share, from a table with a header; InputError names the line that is wrong."""
    shares: dict[str, dict[str, float]] = {}
    for line, address, topic, share in _rows(path):
        try:
            number = float(share)
        except ValueError as error:
            raise InputError(f"{path}, line {line}, column share: no number", hint="a share is from 0 to 1") from error
        if not 0 <= number <= 1:
            raise InputError(f"{path}, line {line}, column share: not from 0 to 1", hint="a share is from 0 to 1")
        if not address or not topic:
            raise InputError(f"{path}, line {line}: the address or the topic is missing", hint="fill all columns")
        shares.setdefault(address, {})[topic] = number
    if not shares:
        raise InputError(f"{path} holds no topics", hint=f"a table needs the columns {', '.join(COLUMNS)}")
    return shares


def _rows(path: Path) -> Iterator[tuple[int, str, str, str]]:
    try:
        with io.StringIO(read_text(path, most=LARGEST, hint="name a table of topics"), newline="") as stream:
            delimiter = "\t" if path.suffix == ".tsv" else ","
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            names = [name.strip().lower() for name in next(reader, [])]
            if missing := [name for name in COLUMNS if name not in names]:
                raise InputError(
                    f"{path}: the column {missing[0]} is missing", hint=f"a table needs {', '.join(COLUMNS)}"
                )
            places = [names.index(name) for name in COLUMNS]
            for row in reader:
                if not row:
                    continue
                if len(row) != len(names):
                    raise InputError(
                        f"{path}, line {reader.line_num}: {len(row)} cells for {len(names)} columns",
                        hint="quote cells that hold commas",
                    )
                address, topic, share = (row[place].strip() for place in places)
                yield reader.line_num, address, topic, share
    except csv.Error as error:
        raise InputError(f"{path} is no table in UTF-8", hint=f"a table needs {', '.join(COLUMNS)}") from error

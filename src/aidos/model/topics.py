"""The default taxonomy: about 400 topics written for aidos, from rock music to debt.

It ships as one tab-separated file beside this module: id, parent, name, sensitive category, description, typical
words. Sensitive branches cover the special categories of personal data (origin, politics, religion or belief, trade
unions, genetic and biometric data, health, sex life and orientation) and what people hide besides: money trouble,
crime, addiction, grief, family and work conflicts. The tree is an aid for samples, lexicons and audits; it does not
promise to cover a language or a culture, and no living person is named in it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from aidos.core.taxonomy import Taxonomy, Topic

__all__ = ["default_taxonomy"]


@cache
def default_taxonomy() -> Taxonomy:
    """The taxonomy that comes with aidos; read once."""
    text = files("aidos.model").joinpath("taxonomy.tsv").read_text(encoding="utf-8")
    _header, *lines = text.splitlines()
    return Taxonomy.of(_topic(line) for line in lines)


def _topic(line: str) -> Topic:
    topic_id, parent, name, sensitive, description, words = line.split("\t")
    return Topic(topic_id, parent, name, sensitive, description, tuple(words.split()))

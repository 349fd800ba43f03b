"""One small module per format: how it is recognised, and how its lines become rows of one of the house's schemas.

To add a format: write its module, and add it to one of the two tuples below.
"""

from __future__ import annotations

from aidos.ingest.formats.base import DelimitedFormat, LineFormat
from aidos.ingest.formats.elastic import ElasticAnalytics
from aidos.ingest.formats.fixed import AOL, EXCITE
from aidos.ingest.formats.generic import Delimited
from aidos.ingest.formats.jsonl import JsonLines
from aidos.ingest.formats.qlogs import QueryLogs
from aidos.ingest.formats.solr import SolrRequests
from aidos.ingest.formats.stackexchange import StackExchangePosts
from aidos.ingest.formats.trec import TrecQrels, TrecRun
from aidos.ingest.formats.ubi import UserBehaviorInsights

__all__ = ["DELIMITED_FORMATS", "LINE_FORMATS"]

DELIMITED_FORMATS: tuple[DelimitedFormat, ...] = (AOL, EXCITE, Delimited())
"""Formats that the engine reads."""
LINE_FORMATS: tuple[LineFormat, ...] = (
    UserBehaviorInsights(),
    ElasticAnalytics(),
    SolrRequests(),
    TrecRun(),
    TrecQrels(),
    QueryLogs(),
    StackExchangePosts(),
    JsonLines(),
)
"""Formats that Python reads line by line. A ``FittedFormat`` among them takes the sample and ``--column`` first."""

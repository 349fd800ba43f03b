"""Files of rankings as streams: read one ranking at a time, checked, and written whole or not at all."""

from __future__ import annotations

from aidos.ingest.rankings.ratings import RatingTable, read_ratings
from aidos.ingest.rankings.reading import FORMATS, read_rankings
from aidos.ingest.rankings.rows import RankedRows, RankingRows
from aidos.ingest.rankings.writing import OUTPUT_SUFFIXES, RankingWriter

__all__ = [
    "FORMATS",
    "OUTPUT_SUFFIXES",
    "RankedRows",
    "RankingRows",
    "RankingWriter",
    "RatingTable",
    "read_rankings",
    "read_ratings",
]

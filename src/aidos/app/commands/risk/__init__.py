"""`aidos risk`: where people rank when somebody looks for the vulnerable."""

from __future__ import annotations

from aidos.errors import ParameterError

__all__ = ["PARTS", "risk"]


def risk() -> int:
    """Find where people rank when somebody looks for the vulnerable, and tell each her own rank.

    For example:
        aidos risk local my-posts.txt
        aidos risk rank posts.parquet --topic depression -o ranks --i-am-the-operator
        aidos risk person ID --in ranks -o page.html
        aidos risk audit --in ranks -o audit.html
    """
    raise ParameterError(
        "what to do is missing: rank, person, add, forget, local, topics, annotate, train or audit",
        hint="see: aidos risk --help",
    )


PARTS = {
    "rank": "aidos.rooms.risk.jobs.rank:RankCommunity",
    "person": "aidos.rooms.risk.jobs.person:ShowPerson",
    "add": "aidos.rooms.risk.jobs.change:AddEntries",
    "forget": "aidos.rooms.risk.jobs.change:ForgetEntries",
    "local": "aidos.rooms.risk.jobs.local:MeasureLocally",
    "topics": "aidos.rooms.risk.jobs.topics:ListTopics",
    "annotate": "aidos.rooms.risk.jobs.annotate:JudgeTopics",
    "train": "aidos.rooms.risk.jobs.train:TrainModels",
    "audit": "aidos.rooms.risk.jobs.audit:AuditCommunity",
}

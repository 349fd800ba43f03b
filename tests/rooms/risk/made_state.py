"""Communities that grow and shrink, for tests of what is kept of them."""

from datetime import UTC, datetime

from hypothesis import strategies as st
from risk_worlds import ASKED, NAMES, WEEK, models_of, texts

from aidos.model.text.analyser import Analyser
from aidos.rooms.risk.arrivals import Arrival, people_of_arrivals
from aidos.rooms.risk.measure import RiskQuestion
from aidos.rooms.risk.measures import MEASURES, TopicalRisk
from aidos.rooms.risk.state import RiskState

MODELS = models_of()
ALL = (*MEASURES.values(), TopicalRisk(space="lda", domain=True, time=True, breadth=0.7, recurring=2, bucket_days=30))
"""All fourteen, and one with other buckets beside them."""
PLAIN = Analyser()
LOUD = Arrival(person="zoe", text=" ".join(NAMES[:18]), when=datetime.fromtimestamp(0, tz=UTC), entry="loud")
"""Has a word of every topic, so that none is refused."""


def made(person, text, seconds, entry):
    return Arrival(person=person, text=text, when=datetime.fromtimestamp(seconds, tz=UTC), entry=entry)


def people_of(arrivals):
    return people_of_arrivals(arrivals, analyser=PLAIN)


def question_of(arrivals, topics=ASKED):
    return RiskQuestion(people=people_of(arrivals), topics=topics, models=MODELS)


def state_of(arrivals, measures=ALL):
    return RiskState.of(question_of(arrivals), measures)


@st.composite
def arrivals(draw, first=0, *, least=1, most=6):
    drawn = st.tuples(st.sampled_from("abcde"), texts, st.integers(-3 * WEEK, 6 * WEEK))
    return [made(*own, f"p{first + at}") for at, own in enumerate(draw(st.lists(drawn, min_size=least, max_size=most)))]

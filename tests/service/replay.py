"""Plays recorded exchanges back, and minds that the requests are those of the recording."""

import json
from pathlib import Path
from urllib.parse import parse_qsl

import httpx

from aidos.service.access import Access
from aidos.service.base import Clock, Retries

RECORDED = Path(__file__).parent / "recorded"
ADDRESSES = {
    "searxng": "https://searx.example.org",
    "opensearch": "https://search.example.org:9200",
    "solr": "https://solr.example.org:8983/solr/articles",
}


class Pauses:
    """A clock that does not wait but writes down how long it would have."""

    def __init__(self, draw=0.5, epoch=0.0):
        self.taken = []
        self.clock = Clock(sleep=self.taken.append, draw=lambda: draw, epoch=lambda: epoch)


class Replay(httpx.BaseTransport):
    """The exchanges of one file, in order."""

    def __init__(self, name):
        self.exchanges = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
        self.requests = []

    def handle_request(self, request):
        recorded = self.exchanges[len(self.requests)]
        self.requests.append(request)
        if expected := recorded.get("request"):
            assert f"{request.method} {request.url.raw_path.decode()}" == expected["line"]
            assert _body(request) == expected["body"]
        answer = recorded["response"]
        if failure := answer.get("failure"):
            raise getattr(httpx, failure)("the recording says so", request=request)
        content = answer["text"] if "text" in answer else json.dumps(answer["body"])
        return httpx.Response(answer["status"], headers=answer.get("headers", {}), content=content.encode())

    def finished(self):
        return len(self.requests) == len(self.exchanges)


def access(kind, replay, pauses=None, **options):
    clock = (pauses or Pauses()).clock
    return Access(address=ADDRESSES[kind], transport=replay, clock=clock, retries=Retries(first_pause=1), **options)


def _body(request):
    text = request.content.decode()
    return json.loads(text) if "json" in request.headers["Content-Type"] else dict(parse_qsl(text, True, True))

"""The HTTP client against a real server on a Unix socket: time, size, cookies, broken answers."""

import gzip
import json
import shutil
import socketserver
import tempfile
import threading
import time
import tracemalloc
from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx
import pytest
from replay import Pauses

from aidos.errors import ParameterError, ServiceError
from aidos.service.access import Access, Credentials
from aidos.service.base import Retries
from aidos.service.http import JsonClient


@cache
def bomb():
    """A gigabyte in a megabyte; packed again, in a few kilobytes."""
    return gzip.compress(b'{"found": "') + gzip.compress(b"x" * (64 << 20)) * 16


class Handler(BaseHTTPRequestHandler):
    """Does what the path says."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(dict(self.headers))
        getattr(self, self.path.strip("/"))()

    def answer(self, content, length=None, **headers):
        self.send_response(200)
        for name, value in {"Content-Length": str(length or len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def good(self):
        self.answer(b'{"found": 1}', Set_Cookie="you=again; Path=/")

    def zipped(self):
        self.answer(gzip.compress(b'{"found": "' + b"x" * 100_000 + b'"}'), Content_Encoding="gzip")

    def zipped_twice(self):
        self.answer(gzip.compress(bomb()), Content_Encoding="gzip, gzip")

    def bomb(self):
        with suppress(BrokenPipeError):
            self.answer(bomb(), Content_Encoding="gzip")

    def brotli(self):
        self.answer(b"unasked", Content_Encoding="br")

    def empty_and_zipped(self):
        self.answer(b"", Content_Encoding="gzip")

    def badly_zipped(self):
        self.answer(b"no gzip", Content_Encoding="gzip")

    def breaks_off(self):
        self.answer(b'{"found"', length=100)
        self.close_connection = True

    def silent(self):
        self.server.over.wait(5)

    def drips(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            while not self.server.over.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def get_request(self):
        return super().get_request()[0], ("local", 0)


@pytest.fixture
def server():
    home = Path(tempfile.mkdtemp(prefix="aidos-http-"))
    with Server(str(home / "socket"), Handler) as made:
        made.seen, made.over, made.socket_path = [], threading.Event(), str(home / "socket")
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.over.set()
        made.shutdown()
        thread.join()
    shutil.rmtree(home)


def ask(path, socket_path, times=1, pauses=None, **options):
    way = Access(
        address="http://localhost",
        transport=httpx.HTTPTransport(uds=socket_path),
        retries=Retries(attempts=2, timeout=0.3),
        clock=(pauses or Pauses()).clock,
        **options,
    )
    client = JsonClient("engine", way)
    try:
        return [client.ask(path, lambda answer: answer["found"], body={"q": "windmill"}) for _ in range(times)]
    finally:
        client.close()


def test_cookies_are_not_kept(server):
    assert ask("/good", server.socket_path, times=2) == [1, 1]
    assert len(server.seen) == 2
    assert not any("Cookie" in headers for headers in server.seen)
    assert {headers["User-Agent"] for headers in server.seen} == {"aidos"}


def test_the_limit_holds_for_what_is_decompressed(server):
    assert len(ask("/zipped", server.socket_path, longest_answer=100_013)[0]) == 100_000
    with pytest.raises(ServiceError, match="more than 100012 bytes"):
        ask("/zipped", server.socket_path, longest_answer=100_012)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/zipped_twice", "packed its answer in a way that was not asked for"),
        ("/brotli", "packed its answer in a way that was not asked for"),
        ("/bomb", "answered more than 16000000 bytes"),
    ],
)
def test_bombs_are_refused_while_they_come(server, path, words):
    assert len(gzip.compress(bomb())) < 10_000
    tracemalloc.start()
    with pytest.raises(ServiceError, match=words):
        ask(path, server.socket_path)
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
    assert {headers["Accept-Encoding"] for headers in server.seen} == {"gzip"}
    assert len(server.seen) == 1


def test_dense_answers_are_refused_even_where_long_ones_are_allowed(server):
    with pytest.raises(ServiceError, match="engine cannot be read: it unpacks to more than 500 times its size"):
        ask("/bomb", server.socket_path, longest_answer=10**10)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/silent", r"did not answer within 0\.3 s \(tried 2 times\)"),
        ("/drips", r"took longer than 0\.3 s to answer \(tried 2 times\)"),
        ("/breaks_off", r"could not be reached or broke off \(RemoteProtocolError\) \(tried 2 times\)"),
        ("/empty_and_zipped", r"cannot be decompressed \(tried 2 times\)"),
        ("/badly_zipped", r"cannot be decompressed \(tried 2 times\)"),
    ],
)
def test_answers_that_never_come_whole_are_given_up_in_time(server, path, words):
    start, pauses = time.monotonic(), Pauses()
    with pytest.raises(ServiceError, match=words):
        ask(path, server.socket_path, pauses=pauses)
    assert time.monotonic() - start < 4
    assert (len(server.seen), len(pauses.taken)) == (2, 1)


# httpcore leaves the socket of a failed connection to the garbage collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_nobody_listens(tmp_path):
    with pytest.raises(ServiceError, match=r"ConnectError\) \(tried 2 times"):
        ask("/good", str(tmp_path / "nobody"))


def replies(*answers):
    """A transport that gives these (status, headers) in turn, then success."""
    left = iter(answers)

    def handle(_request):
        status, headers = next(left, (200, {}))
        return httpx.Response(status, headers=headers, content=json.dumps({"found": 1}).encode())

    return httpx.MockTransport(handle)


@pytest.mark.parametrize(
    ("asked", "pause"),
    [
        ("12", 12),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 10),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.375),
        ("Thu, 01 Jan 1970 00:01:40", 10),
        ("soon", 0.375),
        ("-5", 0.375),
        ("", 0.375),
        ("Thu, 99 Jan 1970 00:01:40 GMT", 0.375),
    ],
)
def test_retry_after_is_seconds_or_a_date_or_passed_over(asked, pause):
    pauses = Pauses(draw=0.5, epoch=90.0)
    way = Access(
        address="https://search.example.org",
        transport=replies((503, {"Retry-After": asked})),
        clock=pauses.clock,
    )
    assert JsonClient("engine", way).ask("/", lambda answer: answer["found"], form={"q": "x"}) == 1
    assert pauses.taken == [pause]


def test_a_bad_certificate_is_final():
    def handle(request):
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", request=request)

    pauses = Pauses()
    way = Access(address="https://search.example.org", transport=httpx.MockTransport(handle), clock=pauses.clock)
    with pytest.raises(ServiceError, match="certificate that cannot be verified"):
        JsonClient("engine", way).ask("/", dict, form={"q": "x"})
    assert pauses.taken == []


def test_an_authority_that_cannot_be_read_is_named(tmp_path):
    broken = tmp_path / "ca.pem"
    broken.write_text("no certificate")
    for path in (broken, tmp_path / "missing.pem"):
        with pytest.raises(ParameterError, match="certificate of an authority"):
            JsonClient("engine", Access(address="https://search.example.org", authority=path))


@pytest.mark.parametrize(
    "address",
    [
        "",
        "search.example.org",
        "ftp://search.example.org",
        "https://",
        "https://me:swordfish@search.example.org",
        "https://swordfish@search.example.org",
        "https://search.example.org:swordfish",
        "https://[::1",
        "https://search.example.org?swordfish=1",
        "https://search.example.org#swordfish",
    ],
)
def test_addresses_that_will_not_do_are_refused_and_not_repeated(address):
    with pytest.raises(ParameterError) as caught:
        Access(address=address)
    assert "swordfish" not in str(caught.value) + caught.value.hint
    assert caught.value.hint


def test_credentials_go_over_safe_ways_only():
    token = Credentials(token="swordfish")
    with pytest.raises(ParameterError, match="readable"):
        Access(address="http://search.example.org", credentials=token)
    assert "swordfish" not in repr(Access(address="http://localhost:9200", credentials=token))
    assert token.headers() == {"Authorization": "Bearer swordfish"}
    assert Credentials(token="ApiKey abc").headers() == {"Authorization": "ApiKey abc"}
    assert (Credentials().headers(), bool(Credentials()), bool(token)) == ({}, False, True)
    for half in ({"user": "me"}, {"password": "x"}, {"user": "me", "password": "x", "token": "y"}):
        with pytest.raises(ParameterError, match="credentials are"):
            Credentials(**half)

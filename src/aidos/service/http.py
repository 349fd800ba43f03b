"""Asking an engine over HTTP, bounded in time, in size and in patience; the only module that speaks to the web.

Every request is a POST, so that the query stands in no address and in no access log. Cookies are thrown away: with them
a service could tell which queries came through the same client. Redirects are not followed, since they would carry the
query (and perhaps credentials) to a host that nobody named. Certificates are verified unless one says otherwise.
Proxies named in the environment (HTTPS_PROXY and its like) are used, as with other tools.

Trouble that may pass is tried again: no connection, a timeout, status 408, 429, 500, 502, 503, 504, an answer that
breaks off or is no JSON. Everything else is final.
"""

from __future__ import annotations

import io
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar, cast

from aidos.engine.unpacking import BrokenStreamError, Compression, TooDenseError, unpack
from aidos.errors import MissingExtraError, ParameterError, ServiceError
from aidos.service.access import CREDENTIALS_HINT, Access
from aidos.service.answers import ShapeError, parse_object
from aidos.service.base import PassingError, persist

if TYPE_CHECKING:
    import httpx
    from _typeshed import WriteableBuffer as Buffer

__all__ = ["JsonClient"]

Found = TypeVar("Found")

HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "aidos"}
ENCODINGS: dict[str, Compression] = {"": "none", "identity": "none", "gzip": "gzip", "x-gzip": "gzip"}
"""Of answers. Several at once are for bombs: a few kilobytes that were packed twice are gigabytes."""
PASSING = frozenset({408, 429, 500, 502, 503, 504})
HINTS = {401: CREDENTIALS_HINT, 403: f"ask for permission, or {CREDENTIALS_HINT}", 404: "check the address"}


class JsonClient:
    """Sends requests to one service and reads JSON."""

    def __init__(self, name: str, access: Access, *, hints: Mapping[int, str] | None = None) -> None:
        """``hints``: what to do about a status, where this service knows better."""
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError("a search service over HTTP", extra="services") from error
        self.name = name
        self.access = access
        self._hints = {**HINTS, **(hints or {})}
        self._client = httpx.Client(
            headers={**HEADERS, **access.credentials.headers()},
            verify=_trust(access),
            timeout=access.retries.timeout,
            follow_redirects=False,
            transport=access.transport,
        )

    def ask(
        self,
        path: str,
        read: Callable[[dict[str, Any]], Found],
        *,
        form: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        code: Callable[[dict[str, Any]], str] | None = None,
    ) -> Found:
        """Post a form or a JSON body and let ``read`` make something of the answer, with patience.

        ``read`` may raise PassingError or ShapeError; ``code`` finds the engine's own word in the body of a refusal.
        """
        address = self.access.address.rstrip("/") + path

        def attempt() -> Found:
            self._client.cookies.clear()
            status, headers, content = self._exchange(self._client.build_request("POST", address, data=form, json=body))
            if status != HTTPStatus.OK:
                self._refuse(status, headers, _own_word(content, code))
            return self._understand(headers, content, read)

        return persist(self.name, attempt, self.access.retries, self.access.clock)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _exchange(self, request: httpx.Request) -> tuple[int, httpx.Headers, bytes]:
        import httpx

        limit = self.access.retries.timeout
        try:
            got = self._client.send(request, stream=True)
            try:
                return got.status_code, got.headers, self._read(got)
            finally:
                got.close()
        except httpx.TimeoutException:
            raise PassingError(f"did not answer within {limit:g} s", hint="allow more time") from None
        except httpx.TransportError as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                hint = "name the file of the authority that signed it"
                raise ServiceError(f"{self.name} has a certificate that cannot be verified", hint=hint) from None
            hint = "does it run, and is the address right?"
            raise PassingError(f"could not be reached or broke off ({type(error).__name__})", hint=hint) from None

    def _read(self, got: httpx.Response) -> bytes:
        """The answer, unpacked here and piece by piece: httpx unpacks whatever came, as often as the headers say."""
        kind = ENCODINGS.get(got.headers.get("Content-Encoding", "").strip().lower())
        if kind is None:
            hint = "it must answer without compression, or with gzip once"
            raise ServiceError(f"{self.name} packed its answer in a way that was not asked for", hint=hint)
        most = self.access.longest_answer
        try:
            content = unpack(io.BufferedReader(_Parts(self._parts(got))), kind, self.name).read(most + 1)
        except BrokenStreamError:
            raise PassingError("sent an answer that cannot be decompressed") from None
        except TooDenseError as error:
            raise ServiceError(error.message, hint="is something between you and the engine?") from None
        if len(content) > most:
            hint = "ask for fewer results, or allow longer answers"
            raise ServiceError(f"{self.name} answered more than {most} bytes", hint=hint)
        return content

    def _parts(self, got: httpx.Response) -> Iterator[bytes]:
        """What comes over the wire; httpx limits the time of each read, so that a drip must be stopped here."""
        limit, start = self.access.retries.timeout, self.access.clock.monotonic()
        for part in cast("Iterable[bytes]", got.stream):
            if self.access.clock.monotonic() - start > limit:
                raise PassingError(f"took longer than {limit:g} s to answer", hint="allow more time")
            yield part

    def _refuse(self, status: int, headers: httpx.Headers, word: str) -> None:
        said = f"answered {status}" + (f" ({word})" if word else _phrase(status))
        if status in PASSING:
            hint = "it is overloaded or limits requests; try again later" if status == 429 else "try again later"
            raise PassingError(said, hint=hint, after=self._asked_pause(headers))
        if 300 <= status < 400:
            raise ServiceError(f"{self.name} has moved ({status})", hint="name its new address; it is not followed")
        raise ServiceError(f"{self.name} {said} (tried once)", hint=self._hints.get(status, "check the options"))

    def _understand(self, headers: httpx.Headers, content: bytes, read: Callable[[dict[str, Any]], Found]) -> Found:
        try:
            return read(parse_object(content))
        except ValueError:
            if content.lstrip()[:1] == b"<" or "html" in headers.get("Content-Type", ""):
                hint = "is the address that of the engine, and not of a page for logging in?"
                raise ServiceError(
                    f"{self.name} answered with a page (HTML or XML), not with JSON", hint=hint
                ) from None
            raise PassingError("answered broken JSON", hint="is something between you and the engine?") from None
        except ShapeError as error:
            hint = "is this the right kind of service, and are the fields named right?"
            raise ServiceError(f"{self.name} answered JSON of another shape: {error}", hint=hint) from None

    def _asked_pause(self, headers: httpx.Headers) -> float | None:
        """Retry-After in seconds: it is a number of them, or a date; what is neither is passed over."""
        asked = headers.get("Retry-After", "").strip()
        if asked.isascii() and asked.isdigit():
            return float(asked[:9])
        try:
            moment = parsedate_to_datetime(asked)
        except ValueError:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, aware.timestamp() - self.access.clock.epoch())


class _Parts(io.RawIOBase):
    """Parts that come one after the other, as a stream."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Buffer) -> int:
        while not self._ready:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._ready = memoryview(part)
        view = memoryview(target).cast("B")
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def _trust(access: Access) -> ssl.SSLContext | bool:
    if access.authority is None or not access.verify:
        return access.verify
    try:
        return ssl.create_default_context(cafile=access.authority)
    except OSError:  # ssl.SSLError is one
        raise ParameterError(
            f"{access.authority} cannot be read as the certificate of an authority", hint="name a PEM file"
        ) from None


def _own_word(content: bytes, code: Callable[[dict[str, Any]], str] | None) -> str:
    try:
        word = code(parse_object(content)) if code else ""
    except (ValueError, ShapeError):
        return ""
    # Only a name goes into messages: engines quote the query in their sentences.
    return word if word.isascii() and word.isidentifier() and len(word) <= 60 else ""


def _phrase(status: int) -> str:
    known = status in HTTPStatus.__members__.values()
    return f" ({HTTPStatus(status).phrase.lower()})" if known else ""

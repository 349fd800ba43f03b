"""How a service over HTTP is reached: address, credentials, trust, patience.

Credentials never stand in an address, are never printed, and do not travel over a connection that others can read.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.service.base import Clock, Retries

__all__ = ["CREDENTIALS_HINT", "Access", "Credentials"]

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
CREDENTIALS_HINT = "set AIDOS_SERVICE_USER and AIDOS_SERVICE_PASSWORD, or AIDOS_SERVICE_TOKEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Who asks. Neither printed nor logged."""

    user: str = field(default="", repr=False)
    """A user's name, together with a password."""
    password: str = field(default="", repr=False)
    """The user's password."""
    token: str = field(default="", repr=False)
    """A token, sent as "Bearer ..."; one with a word before it ("ApiKey ...") is sent as it stands."""

    def __post_init__(self) -> None:
        if bool(self.user) != bool(self.password) or (self.user and self.token):
            raise ParameterError("credentials are a user with a password, or a token", hint=CREDENTIALS_HINT)

    def __bool__(self) -> bool:
        return bool(self.user or self.token)

    def headers(self) -> dict[str, str]:
        """What to send along."""
        if self.token:
            return {"Authorization": self.token if " " in self.token else f"Bearer {self.token}"}
        if self.user:
            return {"Authorization": "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()}
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach a service over HTTP."""

    address: str
    """Where it is, without credentials: scheme, host, port, path."""
    credentials: Credentials = field(default_factory=Credentials)
    """Who asks; nobody in particular unless given."""
    verify: bool = True
    """Whether the certificate of the service must be valid."""
    authority: Path | None = None
    """A file with the certificate of the authority to trust, for services with a private one."""
    retries: Retries = field(default_factory=Retries)
    """How patient to be."""
    clock: Clock = field(default_factory=Clock)
    """Time and chance."""
    longest_answer: Annotated[int, Ge(1)] = 16_000_000
    """Bytes (after decompression) that an answer may have."""
    transport: Any = None
    """An httpx transport of one's own, such as a Unix socket; the network unless given."""

    def __post_init__(self) -> None:
        check_parameters(self)
        _check_address(self.address)
        parts = urlsplit(self.address)
        if self.credentials and parts.scheme == "http" and parts.hostname not in LOCAL:
            raise ParameterError(
                "credentials would travel readable for everybody on the way", hint="use an address with https"
            )


def _check_address(address: str) -> None:
    """Refuse what is no address of a service, and one that carries credentials."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - reading it is the check
    except ValueError:
        raise ParameterError(
            "the address of the service cannot be read", hint="write https://search.example.org:9200"
        ) from None
    if "@" in parts.netloc:
        # Not quoted: a message ends in logs.
        raise ParameterError("the address of the service carries credentials", hint=CREDENTIALS_HINT)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ParameterError("this is no address of a service", hint="write https://search.example.org:9200")
    if parts.query or parts.fragment:
        raise ParameterError("the address of the service goes on after its path", hint="leave out what follows ? or #")

"""Settings for all tests."""

import os
import signal

import pytest
from hypothesis import settings

# A loaded machine is no failure. CI tries the same examples every time; at a desk they vary, so that more is tried.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

# A shell lets its jobs in the background ignore interrupts, and what tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def registry_of_ledgers(tmp_path_factory):
    """Every test has a registry of its own: what one opens, another does not know."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.getbasetemp() / "registries" / os.urandom(8).hex()
        patch.setenv("AIDOS_REGISTRY", str(place))
        yield place


@pytest.fixture(autouse=True, scope="session")
def registry_of_shared_fixtures(tmp_path_factory):
    """What is opened outside of a test is not the user's either."""
    os.environ["AIDOS_REGISTRY"] = str(tmp_path_factory.getbasetemp() / "registries" / "shared")

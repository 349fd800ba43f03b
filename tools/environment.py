"""Make the project's virtual environment from the committed constraints, with nothing but Python.

Packages are kept in a wheel cache, so that the next environment (a fresh clone, another branch) needs no network.
Every file is checked against its hash. Run it through make, or as: python3 tools/environment.py
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
CONSTRAINTS = ROOT / "constraints.txt"


def main() -> int:
    """Create or refresh the environment; do nothing when it is up to date."""
    if sys.version_info < (3, 11):  # noqa: UP036
        found = sys.version.split()[0]
        return fail(f"Python 3.11 or newer is needed; this one is {found}", "name another: make PYTHON=python3.12 demo")
    stamp = VENV / "installed.txt"
    wanted = fingerprint()
    if stamp.is_file() and stamp.read_text() == wanted:
        return 0
    say("making the environment in .venv (once; a minute or two)")
    if subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=False).returncode:
        return fail("python3 -m venv failed", "on Debian and Ubuntu: apt-get install python3-venv")
    if not (install_cached(show_errors=False) or (download() and install_cached())):
        return fail("the packages could not be installed", "see pip's message above; the network is needed once")
    stamp.write_text(wanted)
    return 0


def fingerprint() -> str:
    """What the environment was made from."""
    made_from = [CONSTRAINTS.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), sys.version.encode(), bytes(VENV)]
    return hashlib.sha256(b"\0".join(made_from)).hexdigest()


def install_cached(*, show_errors: bool = True) -> bool:
    """Install from the wheel cache alone; False when it does not hold everything."""
    wheels = wheel_cache()
    offline = ["install", "--quiet", "--no-index", "--find-links", str(wheels)]
    project = [*offline, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    constraints = [*offline, "--no-deps", "--require-hashes", "-r", str(CONSTRAINTS)]
    return pip(constraints, show_errors=show_errors) and pip(project)


def download() -> bool:
    """Fetch every package of the constraints into the wheel cache.

    The constraints are complete, so nothing is resolved: pip would look up the newest version of `coverage[toml]`
    beside the pinned `coverage`, and refuse it for want of a hash as soon as there is a newer one.
    """
    say("fetching packages")
    exact = ["--no-deps", "--require-hashes", "-r", str(CONSTRAINTS)]
    return pip(["download", "--quiet", "--dest", str(wheel_cache()), *exact])


def wheel_cache() -> Path:
    """Where wheels are kept: the user's cache, or the project's when that cannot be written."""
    caches = [os.environ.get("XDG_CACHE_HOME", ""), str(Path.home() / ".cache"), str(ROOT / ".cache")]
    for cache in filter(None, caches):
        wheels = Path(cache) / "aidos" / "wheels"
        try:
            wheels.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(wheels, os.W_OK):
            return wheels
    raise SystemExit(fail("no directory for the package cache can be written", "set XDG_CACHE_HOME"))


def pip(arguments: list[str], *, show_errors: bool = True) -> bool:
    """Run pip inside the environment."""
    command = [VENV / "bin" / "python", "-m", "pip", "--disable-pip-version-check", *arguments]
    errors = None if show_errors else subprocess.DEVNULL
    return subprocess.run(command, check=False, stderr=errors).returncode == 0


def say(message: str) -> None:
    """Tell what goes on."""
    print(f"environment: {message}", file=sys.stderr, flush=True)


def fail(message: str, hint: str) -> int:
    """Say what went wrong and leave no half-made environment."""
    shutil.rmtree(VENV, ignore_errors=True)
    print(f"environment: {message}\n  hint: {hint}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

"""Commands that change what is kept, and what has to be true after one of them was cut off anywhere."""

import json
from contextlib import suppress
from pathlib import Path

from aidos.account.ledger import FileLedger
from aidos.rooms.publish.manifest import read_manifest, verify_release
from aidos.surfaces.cli import run

SECRET = "xylophone therapist hopeless"


def asked(*arguments):
    return run([*map(str, arguments), "--quiet"])


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def post(name, author, text):
    return {"post_id": name, "author_id": author, "timestamp": "2024-03-01T10:00:00", "text": text}


def leftovers(place):
    return [str(path.relative_to(place)) for path in place.rglob(".*") if "partial" in path.name]


def holds(directory, text):
    """Files in which bytes of a text are found."""
    found = [path for path in directory.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
    return [str(path.relative_to(directory)) for path in found]


class Publish:
    """A charge is on the disk before the release, and a release is whole."""

    def prepare(self, place):
        rows = "".join(
            f"u{number:03}\t{query}\t2024-03-01 10:{minute:02}:00\t1\thttps://{query}.example\n"
            for number in range(200)
            for minute, query in enumerate(("fern", "moss"))
        )
        Path("log.tsv").write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + rows)
        return asked("ledger", "open", "log.tsv", "--epsilon", 6, "--delta", 0.05, "-o", "l.ledger")

    def run(self, place, target="release"):
        return asked("publish", "log.tsv", "--ledger", "l.ledger", "--epsilon", 2, "--yes", "-o", target)

    def check(self, place, code):
        ledger = FileLedger(place / "l.ledger")
        charges = ledger.state().charges
        released = [*place.glob("release*"), *(place / "tmp").glob("release*")]
        for each in released:
            assert verify_release(each) == []
            assert read_manifest(each)["ledger"]["line"] in {charge.number for charge in charges}
        assert not released or ledger.spent()[0] >= 2 - 1e-9
        assert code != 0 or (place / "release").is_dir()
        ledger.witnessed()
        torn = any(charge.spend is None for charge in charges)
        again = self.run(place, "another" if (place / "release").exists() else "release")
        assert again == (3 if torn else 0)
        assert leftovers(place) == []


class Rerank:
    """A ranking is counted once, with its answer."""

    rankings = 2

    def prepare(self, place):
        subjects = [{"subject_id": f"a{number}", "relevance": 9 - number} for number in range(6)]
        made = [{"ranking_id": f"r{number}", "query_id": "q", "subjects": subjects} for number in range(self.rankings)]
        lines(Path("rankings.jsonl"), made)

    def run(self, place):
        return asked("fair", "rerank", "rankings.jsonl", "-o", "served.jsonl", "--store", "attention.store")

    def check(self, place, code):
        from aidos.rooms.fairness.keeper import read_store

        served, store = place / "served.jsonl", place / "attention.store"
        if store.exists():
            assert read_store(store)[2].rankings <= self.rankings
        if served.exists():
            assert len(served.read_text().splitlines()) == self.rankings
            assert read_store(store)[2].rankings == self.rankings
        assert code != 0 or served.exists()
        assert self.run(place) == 0
        assert read_store(store)[2].rankings == self.rankings
        assert leftovers(place) == []


class Expose:
    """Posts are added or not, and what was cut off is gone when somebody asks for it to be deleted."""

    def prepare(self, place):
        lines(Path("posts.jsonl"), [post(f"p{number}", "ann", f"fern moss oak{number}") for number in range(4)])
        lines(Path("new.jsonl"), [post("n1", "bob", SECRET)])
        return asked("expose", "compute", "posts.jsonl", "-o", "exposure")

    def run(self, place):
        return asked("expose", "add", "new.jsonl", "--in", "exposure")

    def check(self, place, code):
        from aidos.rooms.exposure.queries.store import ExposureStore

        posts = ExposureStore.open(place / "exposure").facts.posts
        assert posts == 5 if code == 0 else posts in {4, 5}
        assert asked("expose", "delete", "n1", "--in", "exposure") == (0 if posts == 5 else 2)
        assert holds(place / "exposure", SECRET) == []
        assert leftovers(place) == []
        assert self.run(place) == 0


class Risk:
    """Entries are counted once, and whoever is forgotten is in no file, however the adding ended."""

    def prepare(self, place):
        texts = {"ann": "the lawn wants rain", "cem": "depression, a therapist", "dee": "the creditor and the debt"}
        lines(Path("posts.jsonl"), [post(f"p-{author}", author, text) for author, text in texts.items()])
        lines(Path("new.jsonl"), [post("n1", "bob-4711", SECRET)])
        chosen = ("--topic", "depression", "--measure", "bow", "--measure", "entropy", "--i-am-the-operator")
        return asked("risk", "rank", "posts.jsonl", *chosen, "-o", "ranks")

    def run(self, place):
        return asked("risk", "add", "new.jsonl", "--in", "ranks")

    def check(self, place, code):
        from aidos.rooms.risk.directory import RiskDirectory

        people = len(RiskDirectory(place / "ranks").state())
        assert people == 4 if code == 0 else people in {3, 4}
        asked("risk", "forget", "--person", "bob-4711", "--in", "ranks")
        assert holds(place / "ranks", "bob-4711") == []
        assert holds(place / "ranks", "xylophone") == []
        assert leftovers(place) == []
        assert self.run(place) == 0
        assert len(RiskDirectory(place / "ranks").state()) == 4


class Profile:
    """A topic is forgotten or not, and nothing is left of the profile that was erased."""

    def prepare(self, place):
        notes = place / "notes"
        notes.mkdir()
        (notes / "a.txt").write_text("the creditor wants the debt back; chess openings and the sicilian defence")
        return asked("shield", "profile", "build", "notes", "-o", "profile.json")

    def run(self, place):
        return asked("shield", "profile", "forget", "profile.json", "--session")

    def check(self, place, code):
        assert asked("shield", "profile", "show", "profile.json") == 0
        assert asked("shield", "profile", "forget", "profile.json", "--all") == 0
        assert leftovers(place) == []
        with suppress(FileNotFoundError):
            raise AssertionError((place / "profile.json").read_text())


SCENARIOS = {"publish": Publish(), "rerank": Rerank(), "expose": Expose(), "risk": Risk(), "profile": Profile()}

"""A small re-ranker whose every answer depends on all that was counted before, and processes that run it."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from aidos.rooms.fairness import keeper as store
from aidos.rooms.fairness.accounts import MemoryKeeper, Served
from aidos.rooms.fairness.keeper import StoreKeeper

SETTINGS = {"attention": "geometric:share=0.5,positions=3", "level": "subject", "half_life": "9.0"}
HALF_LIFE = 9.0
WEIGHTS = np.array([4, 2, 1]) / 7


def serve(keeper, number, prefix="r"):
    """Serve ranking ``number`` once: the three subjects that are owed most come first."""
    ranking_id = f"{prefix}{number}"
    with keeper.turn() as accounts:
        if before := keeper.answer(ranking_id):
            return before, accounts.rankings
        keeper.record(question(accounts, number, ranking_id))
        return keeper.answer(ranking_id), accounts.rankings


def question(accounts, number, ranking_id):
    """A ranking of eight out of a growing number of subjects, and its answer."""
    rng = np.random.default_rng(number)
    names = tuple(f"subject {index}" for index in rng.choice(10 + number, 8, replace=False))
    relevance = rng.random(8)
    relevance /= relevance.sum()
    slots = accounts.slots(names)
    placed = np.argsort(accounts.received(slots) - accounts.earned(slots) - relevance, kind="stable")[:3]
    return Served(
        ranking_id=ranking_id,
        content=f"digest {number}",
        slots=slots,
        relevance=relevance,
        placed=placed,
        attention=WEIGHTS,
        placed_ids=tuple(names[index] for index in placed),
        searcher_id=f"searcher {number % 3}" if number % 4 else "",
        quality=float(relevance[placed].sum()),
    )


def state(accounts):
    """All of the accounts, to the last bit."""
    received, earned, scale = accounts.kept()
    searchers = {name: (one.rankings, one.quality) for name, one in accounts.searchers.items()}
    return (
        list(accounts.names),
        received.tobytes(),
        earned.tobytes(),
        scale,
        accounts.unfairness,
        accounts.rankings,
        searchers,
    )


def state_of(keeper):
    with keeper.turn() as accounts:
        return state(accounts)


def in_memory(numbers, prefix="r"):
    keeper = MemoryKeeper(half_life=HALF_LIFE)
    for number in numbers:
        serve(keeper, number, prefix)
    return keeper


def opened(path, **more):
    return StoreKeeper.open(path, settings=SETTINGS, half_life=HALF_LIFE, **more)


def serve_all(path, prefix, count):
    """One process among others: says in which place each of its rankings was counted.

    With a START file it waits for that file, and lets the others have a turn after each ranking.
    """
    start = os.environ.get("START")
    with opened(path) as keeper:
        print("ready", flush=True)
        while start and not Path(start).exists():
            time.sleep(0.001)
        for number in range(count):
            _, place = serve(keeper, number, prefix)
            print(place, prefix, number, flush=True)
            time.sleep(0.001 if start else 0)


def kill_before_every_statement(path, count):
    """Fork a process for each moment between two statements, kill it there, go on after it and compare."""
    expected, moment = state(in_memory(range(count)).accounts), 0
    while True:
        place = path.with_name(f"killed{moment}.db")
        child = os.fork()
        if child == 0:
            serve_until(place, count, moment)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        with opened(place) as keeper:
            for number in range(count):
                serve(keeper, number)
            assert state_of(keeper) == expected, moment
        if not os.WIFSIGNALED(status):
            break
        moment += 1
    print(moment)


def serve_until(path, count, moment):
    with opened(path) as keeper:
        left = moment

        def next_statement(_):
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        keeper._connection.set_trace_callback(next_statement)
        for number in range(count):
            serve(keeper, number)


def fill_a_small_disk(path, limit):
    """Files may not grow beyond ``limit`` bytes; says how many rankings were served before that."""
    import resource

    from aidos.errors import EngineError

    with opened(path) as keeper:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        served = 0
        try:
            while served < 5000:
                serve(keeper, served)
                served += 1
        except EngineError as error:
            print(served, error.message, "|", error.hint, flush=True)
        os._exit(0)  # as a crash would: no tidying up


if __name__ == "__main__":
    store.RANKINGS_BEFORE_FOLDING = int(os.environ.get("FOLD_AFTER", "5"))
    what, where, *rest = sys.argv[1:]
    if what == "serve":
        serve_all(Path(where), rest[0], int(rest[1]))
    elif what == "kill":
        kill_before_every_statement(Path(where), int(rest[0]))
    elif what == "fill":
        fill_a_small_disk(Path(where), int(rest[0]))

"""The nouns of WordNet 3 as a tree: ``data.noun`` of its database files, as Debian's package ``wordnet-base`` has it.

A set of synonyms is a topic, its hypernyms (also those of instances) are its parents. More than two thousand of them
have several, so the tree is a choice: *unrolled*, where a topic stands once below each parent with all that is below it
(82,115 become 111,557 topics in WordNet 3.0), or with the *first parent* alone. The id is the first synonym and the
number of the set, ``dog.02084071``; further copies of an unrolled topic end in ``.2``, ``.3`` ... The copy that first
parents alone lead to has the plain id, so that both trees know it under the same name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aidos.core.taxonomy import Topic
from aidos.errors import InputError
from aidos.model.taxonomies.records import Draft, numbered_lines

__all__ = ["is_wordnet", "read_wordnet"]

MOST = 5_000_000
"""Topics beyond which a graph is not unrolled."""
PARENTS = {"@", "@i"}


@dataclass(frozen=True, slots=True)
class _Synset:
    line: int
    name: str
    words: tuple[str, ...]
    gloss: str
    parents: tuple[str, ...]


def is_wordnet(head: str) -> bool:
    """Whether the first line that is no remark is a set of nouns."""
    lines = (line.split() for line in head.split("\n") if line and not line.startswith(" "))
    return any(len(cells) > 5 and cells[2] == "n" and len(cells[0]) == 8 and cells[0].isdigit() for cells in lines)


def read_wordnet(path: Path, draft: Draft) -> None:
    """Put the topics of the file into the draft, unrolled unless the draft asks for first parents."""
    synsets: dict[str, _Synset] = {}
    for number, line in numbered_lines(path):
        if line.startswith(" "):
            continue  # The licence stands in the file, every line of it after a blank.
        try:
            offset, synset = _synset(number, line)
        except (ValueError, IndexError):
            draft.trouble("no-synset", "the line is no set of synonyms in the form of WordNet", [number])
            continue
        if offset in synsets:
            draft.trouble("repeated-topic", f"sets stand there more than once: {synset.name}.{offset}", [number])
        synsets[offset] = synset
    _check_parents(synsets, draft)
    draft.refuse()
    if draft.first_parent:
        for offset, synset in synsets.items():
            above = synset.parents[0] if synset.parents else ""
            draft.add(synset.line, _topic(synset, _id(offset, synset), _id(above, synsets[above]) if above else ""))
    elif synsets:
        _unroll(synsets, draft)


def _synset(number: int, line: str) -> tuple[str, _Synset]:
    head, parted, gloss = line.partition(" | ")
    cells = head.split()
    words_end = 4 + 2 * int(cells[3], 16)
    words = cells[4:words_end:2]
    pointers = cells[words_end + 1 : words_end + 1 + 4 * int(cells[words_end])]
    if not parted or not words or len(pointers) != 4 * int(cells[words_end]) or not cells[0].isdigit():
        raise ValueError("not a set of synonyms")
    found = [target for kind, target in zip(pointers[::4], pointers[1::4], strict=True) if kind in PARENTS]
    return cells[0], _Synset(number, words[0], tuple(words[1:]), gloss.strip(), tuple(dict.fromkeys(found)))


def _check_parents(synsets: dict[str, _Synset], draft: Draft) -> None:
    dangling = [(offset, synset) for offset, synset in synsets.items() if any(p not in synsets for p in synset.parents)]
    if dangling:
        names = ", ".join(_id(offset, synset) for offset, synset in dangling[:5])
        sentence = f"sets have a parent that the file does not have: {names}"
        draft.trouble("unknown-parent", sentence, [synset.line for _, synset in dangling])


def _unroll(synsets: dict[str, _Synset], draft: Draft) -> None:
    children: dict[str, list[str]] = {}
    for offset, synset in synsets.items():
        for parent in synset.parents:
            children.setdefault(parent, []).append(offset)
    _check_size(synsets, children, draft)
    copies: dict[str, int] = {}
    roots = [offset for offset, synset in synsets.items() if not synset.parents]
    stack = [(offset, "", "", True) for offset in reversed(roots)]
    while stack:
        offset, above, parent, is_main = stack.pop()
        synset = synsets[offset]
        is_main = is_main and (not above or synset.parents[0] == above)
        topic_id = _id(offset, synset)
        if not is_main:
            copies[offset] = copies.get(offset, 1) + 1
            topic_id += f".{copies[offset]}"
        draft.add(synset.line, _topic(synset, topic_id, parent))
        stack.extend((child, offset, topic_id, is_main) for child in reversed(children.get(offset, ())))


def _check_size(synsets: dict[str, _Synset], children: dict[str, list[str]], draft: Draft) -> None:
    """Count the topics before they are made: a cycle would never end, and a graph can unroll to anything."""
    waiting = {offset: len(synset.parents) for offset, synset in synsets.items()}
    ways = dict.fromkeys(synsets, 0)
    ready = [offset for offset, left in waiting.items() if not left]
    ways.update(dict.fromkeys(ready, 1))
    done = 0
    while ready:
        offset = ready.pop()
        done += 1
        for child in children.get(offset, ()):
            ways[child] += ways[offset]
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    if done < len(synsets):
        stuck = [(offset, synsets[offset]) for offset, left in waiting.items() if left]
        names = ", ".join(_id(offset, synset) for offset, synset in stuck[:5])
        sentence = f"sets are above and below one another, or below such sets: {names}"
        draft.trouble("cycle", sentence, [synset.line for _, synset in stuck])
        draft.refuse()
    if sum(ways.values()) > MOST:
        raise InputError(
            f"{draft.file} unrolls to more than {MOST:,} topics",
            hint="import it with --first-parent",
        )


def _topic(synset: _Synset, topic_id: str, parent: str) -> Topic:
    return Topic(topic_id, parent, synset.name.replace("_", " "), "", synset.gloss, synset.words)


def _id(offset: str, synset: _Synset) -> str:
    return f"{synset.name}.{offset}"

"""One word for the forms of a word: plurals become singulars, and no word becomes an unlike one.

Stemmers put words together that only begin alike: "transit" and "transition", "screen" and "screening", "university"
and "universe". Where a single word decides what a query is about, that is a wrong answer. `lemma` takes off what
English nouns have for more than one, and the 's of a possessor, and nothing else (after Harman 1991, "How effective is
suffixing?", with the irregular plurals that people search for). `inflections` gives the forms that a verb may have, for
a word that is not known as it stands: it is for a caller who tries them in order and takes the first that is known.

Both are for English. Words of other languages lose an s at their end at most.
"""

from __future__ import annotations

__all__ = ["inflections", "lemma"]

SHORTEST = 3
"""Words with fewer letters stay as they are."""
PLURALS = """
men man mens man women woman womens woman children child childrens child people people
mice mouse teeth tooth feet foot geese goose lice louse knives knife
wives wife wolves wolf leaves leaf loaves loaf shelves shelf thieves thief halves half calves calf hooves hoof
scarves scarf lives life movies movie cookies cookie selfies selfie zombies zombie pies pie ties tie hoodies hoodie
smoothies smoothie brownies brownie calories calorie shoes shoe toes toe canoes canoe horseshoes horseshoe oboes oboe
buses bus viruses virus gases gas lenses lens cactuses cactus fungi fungus cacti cactus quizzes quiz diagnoses diagnosis
lemmas lemma chateaux chateau matrices matrix indices index analyses analysis crises crisis axes axe
"""
NAMES = """
aids always andes atlas bahamas blues canvas christmas dallas gas goods has his honduras james kansas las lens mars
mass moses news philippines pancreas series species texas this vegas wales was windows
"""
KEPT = frozenset(NAMES.split())
"""Words that end in s and are not the plural of the word without it, or mean something else than that."""
SILENT = ("ches", "shes", "sses", "xes", "zzes")
VOWELS = frozenset("aeiouy")

_pieces = PLURALS.split()
IRREGULAR = dict(zip(_pieces[::2], _pieces[1::2], strict=True))


def lemma(word: str) -> str:
    """The singular of a word in small letters; the word itself where it is none."""
    if "'" in word:
        before, apostrophe, after = word.removesuffix("'s").rpartition("'")
        return f"{before}{apostrophe}{lemma(after)}"
    if not word.endswith("s"):
        return IRREGULAR.get(word, word)
    if len(word) <= SHORTEST or word in KEPT:
        return word
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith(("ss", "us", "is", "ics")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > SHORTEST + 1 else word[:-1]
    if word.endswith(SILENT) or (word.endswith("oes") and len(word) > SHORTEST + 2):
        return word[:-2]
    return word[:-1]


def inflections(word: str) -> list[str]:
    """Forms of the same verb or noun, the likeliest first: swim, swimming, swimmed, swimmer."""
    if len(word) < SHORTEST or not word.isascii() or not word.isalpha():
        return []
    bases = _bases(word) or [word]
    formed = [form for base in bases for form in (base, *_forms(base))]
    return [form for form in dict.fromkeys(formed) if form != word]


def _bases(word: str) -> list[str]:
    """What the word may be a form of: without its ending, undoubled, or with the e that it lost."""
    for ending in ("ing", "ed", "er"):
        stem = word.removesuffix(ending)
        if len(stem) < len(word) and len(stem) >= SHORTEST and VOWELS & set(stem):
            undoubled = [stem[:-1]] if stem[-1] == stem[-2] and stem[-1] not in VOWELS else []
            return [stem, f"{stem}e", *undoubled]
    return []


def _forms(base: str) -> list[str]:
    if base.endswith("e"):
        return [f"{base[:-1]}ing", f"{base}d", f"{base}r"]
    doubled = f"{base}{base[-1]}" if _doubles(base) else base
    return [f"{doubled}ing", f"{doubled}ed", f"{doubled}er"]


def _doubles(base: str) -> bool:
    """Whether a short word doubles its last letter, as swim and plan do."""
    return (
        len(base) >= SHORTEST
        and base[-1] not in VOWELS | {"w", "x"}
        and base[-2] in VOWELS
        and base[-3] not in VOWELS
        and len(base) <= SHORTEST + 2
    )

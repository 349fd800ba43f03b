"""Whether words are of another language than English: by function words and by script, without a model.

Function words are the commonest words of a language, and few texts do without. Those listed are of the languages that
are searched in most with Latin letters; words that English has too ("die", "was", "son") and those that stand in names
of English texts ("de", "la", "van") weigh little. A word with no Latin letter at all is of another script.

A text of two words that are no function words cannot be told: it is taken as it stands.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from aidos.model.text.inflection import lemma

__all__ = ["FOREIGN", "HEAVY", "LIGHT", "PARTICLE", "foreign_marks"]

PARTICLE, FOREIGN = 1, 2
"""A word that stands in English names too, and one that does not."""

WORDS = """
und oder nicht ist sind wie wo wann warum welche welcher für mit auf zum zur vom bei nach über ohne kann ich wir eine
einen einem einer kein keine wird werden auch noch nur aus beim ins dass gibt beste günstig kaufen kostenlos
et ou où avec pour dans sur une est sont comment pourquoi quand quel quelle quels quelles mon ma mes votre notre pas
plus sans chez aux ce cette ces qui que faire meilleur gratuit acheter prix
y o con para por una como cómo cuando cuándo donde dónde qué cuál cuáles porque está están hay muy más sin mejor mejores
gratis comprar precio sobre mi mis su sus hacer
e ed di con per gli delle degli della dello dalla nella nel sul sulla come dove quando quale quali perché perche sono
che più migliore migliori gratis comprare
não nao são com para pelo pela uma uns umas mais como onde quando qual quais porque você voce fazer melhor grátis
en het een voor niet met naar zijn wat waar hoe wanneer waarom welke kan goedkoop kopen
och att inte hur för med på är eller ikke hvordan og på til
ve ile için nerede ne zaman bir nedir
i w z na jak gdzie kiedy jest nie czy dla się oraz
"""
PARTICLES = """
de da do das dos del des di du den der dem d e en et i la le les lo los las el il al an am im o os as ou un um van von
y z w san santa st sur con com per come on ne na me ma mi mes son est que qui son plus pas sans ce ces i bei aus wo
ins wie qual bir es se te si no kan wat til og med pro as aux mon sin dove prix gratis mit comment faire hay att uma
notre pour sono como hoe jest hur nur nat mas sui nella para dan
"""
LIGHT = frozenset(map(lemma, PARTICLES.split()))
HEAVY = frozenset(map(lemma, WORDS.split())) - LIGHT
"""As lemmas, since that is what is asked for."""


def foreign_marks(words: Sequence[str]) -> list[int]:
    """FOREIGN, PARTICLE or 0 for each word, as a lemma."""
    return [_mark(word) for word in words]


def _mark(word: str) -> int:
    if word in HEAVY:
        return FOREIGN
    if word in LIGHT:
        return PARTICLE
    if word.isascii() or not any(map(str.isalpha, word)):
        return 0
    return 0 if any(_is_latin(letter) for letter in word) else FOREIGN


def _is_latin(letter: str) -> bool:
    return letter.isalpha() and unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN"))

"""Whether words are of another language than English: by function words and by script, without a model.

Function words are the commonest words of a language, and few sentences do without. Short queries do, so there is a list
of what people search for everywhere as well. Words are of the languages that are searched in most with Latin letters;
those that English has too ("die", "was", "son") and those that stand in names of English texts ("de", "la", "van")
weigh little. A word with no Latin letter at all is of another script.

A text of words that are in no list cannot be told: it is taken as it stands.
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
notre pour sono como hoe jest hur nur nat mas sui nella para dan stadt kinder kinderen ville ciudad
"""
CONTENT = """
beste besten bester bestes billig billige günstige garten wetter morgen heute haus wohnung mieten flug flüge flughafen
fahrrad schwangerschaft schwanger krankheit arzt rezept rezepte kuchen schule arbeit urlaub reise reisen
frauen geld versicherung bibel tun gebraucht scheidung hochzeit nachrichten zeitung spiele lernen hilfe kleid
recette recettes voiture vols travail emploi malade maladie grossesse enfants école ecole vacances meteo météo demain
jeux argent santé sante avocat médecin vélo maigrir femmes hommes chien
barato barata baratos baratas vuelo vuelos receta recetas tiempo noticias deporte deportes coche coches trabajo salud
enfermedad embarazo síntomas sintomas niños mujer mujeres hombre viaje viajes escuela dinero juegos
abogado médico tienda cocina película peliculas casero bajar
ricetta ricette volo voli lavoro offerte usate vendita gravidanza scuola salute malattia viaggio vacanze soldi notizie
vino dimagrire bambini
receita receitas passagem passagens emprego gravidez saúde saude carro carros viagem notícias escola emagrecer
goedkope recept recepten huis fiets fietsen werk ziekte zwanger vakantie gezondheid nieuws afvallen
billiga flyg resa resor arbete gravid sjukdom väder nyheter
tanie loty bilety przepis objawy pogoda praca ciąży
ucuz bilet uçak hamilelik tarifi hava durumu
"""
"""What people search for everywhere, in words that English has not: short queries have no function word."""
LIGHT = frozenset(map(lemma, PARTICLES.split()))
HEAVY = frozenset(map(lemma, (WORDS + CONTENT).split())) - LIGHT
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

"""What people search for, and the topics that are right: written for this test, by nobody who asked."""

from functools import cache

import pytest

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.model.topics import default_taxonomy, words_by_topic
from aidos.model.topicsearch import TopicSearch

DEFAULT = default_taxonomy()

RIGHT = """
used hatchback with low mileage: used-cars cars automobiles
how do I tune a mandolin: instruments guitar
quiet keyboard for late practice: piano laptops instruments
tickets for the chamber orchestra on saturday: classical-music
best setting for night photos with a tripod: photography
who directed the thriller with the lighthouse: films crime-novels
season finale of that hospital drama: tv-series
train from Lisbon to Porto with two bicycles: rail-travel europe-travel cycling
is there a night bus from Oslo airport to the centre: getting-around air-travel europe-travel
do I need a visa for three days in Hanoi: visas-and-residence
schengen visa refused twice: visas-and-residence
passport expires in five months can I still fly: passports air-travel
lost luggage after a missed connection: air-travel
hand luggage weight limit: air-travel
sim card for two weeks in Peru: smartphones south-america-travel
ferry to the islands in winter: cruises getting-around beach-holidays
hostel with lockers in Krakow: europe-travel backpacking hotels
sushi for beginners: japanese-food
sourdough starter smells odd: baking
lentil soup without onions: cooking vegetarian-cooking
espresso machine leaks: coffee
waterproof hiking boots for women: hiking shoes clothing
running shoes wide fit: running shoes
necklace with a small opal: jewellery-making accessories
lipstick that stays on: make-up
puppy bites the leash: dogs
kitten scratches the sofa: cats home-decor
goldfish tank too warm: aquarium-fish
snake that eats less in winter: reptiles
hummingbird feeder: birdwatching
octopus camouflage: marine-animals
replace brake pads yourself: car-repair
motorcycle helmet sizes: motorcycles
wireless headphones for small ears: headphones
television too dark in films: tv-sets films
microwave sparks: kitchen-appliances
vacuum cleaner for stairs: cleaning household-goods
gift for a friend who knits: gifts knitting
insulin pump at the beach: diabetes beach-holidays
chemotherapy and taste: cancer
panic attack on the metro: anxiety
how long does alcohol withdrawal last: addiction
quit smoking with patches: smoking
wheelchair ramp for two steps: mobility-impairment
toothache at night: dental-care
baby sleeps only in the stroller: babies sleep
wedding invitation wording: weddings
divorce after two years: divorce separation
funeral flowers: funerals
ramadan calendar: islam
bible verse about patience: christianity
horoscope for gemini: astrology
lawyer for a small contract: legal-advice
postal ballot deadline: elections
food bank near me and debt advice: debt welfare-benefits
credit card blocked abroad: banking
exchange rate pounds: banking economy-news
stock market opening hours: investing
mortgage rate in spring: mortgages
apartment lease ends early: renting
cover letter for an apprenticeship: cv-and-interviews job-search
student loan interest: student-finance
algebra homework: mathematics school-life
telescope for a balcony: astronomy
earthquake magnitude: geology
laptop fan noise: laptops
javascript array length: programming
router drops the wifi: home-networks
lawn mower does not start: gardening
leaking faucet: home-repairs
hurricane path: severe-weather
"""
SAID_WRONG = {
    "beam propagation method": {"abortion", "contraception"},
    "screen saver": {"cancer"},
    "transit visa": {"gender-transition"},
    "transit through Istanbul": {"gender-transition"},
    "guinea pig hay": {"small-farm"},
    "driving licence": {"addiction"},
}
"""Queries that stems once led to topics which have nothing to do with them."""
FOREIGN = (
    "wie backe ich ein brot",
    "où acheter une guitare pas cher",
    "como hacer una tarta de queso",
    "che tempo fa oggi nella valle",
    "hoe maak ik een taart",
    "как получить visa",
    "巴黎 hotel 預訂",
)
SILENT = ("", "zzqx", "the best way to get it", "free pictures", "2017", "e", "qwertz uiopü asdf", "new list of names")


@cache
def search():
    return TopicSearch(DEFAULT)


def named(text, most=3):
    return [search().tree.ids[place] for place in search().find(text).places[:most]]


def asked():
    for line in RIGHT.strip().splitlines():
        query, _, topics = line.rpartition(": ")
        yield query, frozenset(topics.split())


def test_most_queries_have_a_right_topic_among_three_and_hardly_one_a_sensitive_wrong_one():
    queries = list(asked())
    assert all(topics <= set(DEFAULT.topics) for _, topics in queries)
    right = [bool(topics & set(named(query))) for query, topics in queries]
    first = [(query, named(query, 1), topics) for query, topics in queries]
    astray = [query for query, best, topics in first if best and best[0] not in topics and DEFAULT[best[0]].sensitive]
    assert sum(right) >= 0.75 * len(queries), [
        query for (query, _), found in zip(queries, right, strict=True) if not found
    ]
    assert len(astray) <= 0.05 * len(queries), astray


@pytest.mark.parametrize("query", sorted(SAID_WRONG))
def test_no_query_is_led_astray_by_what_words_begin_with(query):
    assert not SAID_WRONG[query] & set(named(query, 20))


@pytest.mark.parametrize("query", FOREIGN)
def test_other_languages_are_refused_rather_than_guessed(query):
    assert named(query) == []


def test_a_taxonomy_in_another_language_is_asked_in_it():
    trees = [
        Topic("alles", "", "Alles"),
        Topic("brot", "alles", "Brot und Kuchen", description="Was man für das Backen braucht und wie es geht"),
        Topic("musik", "alles", "Musik", description="Lieder, die man singt oder spielt", words=("gitarre",)),
    ]
    found = TopicSearch(Taxonomy.of(trees))
    assert [found.tree.ids[place] for place in found.find("wie backe ich ein brot").places] == ["brot"]
    assert [found.tree.ids[place] for place in found.find("wo ist meine gitarre").places] == ["musik"]


@pytest.mark.parametrize("query", SILENT)
def test_nothing_is_found_where_nothing_is_said(query):
    assert named(query) == []


def test_one_word_of_many_unknown_ones_is_too_little():
    assert named("guitar")[0] == "guitar"
    assert named("lesson") != []
    assert named("lesson wxqa wxqb wxqc wxqd") == []


def test_phrases_are_not_their_words():
    assert named("guinea pigs")[0] == "small-pets"
    assert named("snow white")[0] not in {"skiing", "severe-weather", "weather-forecast"}
    assert named("operating system")[0] == "operating-systems"


def test_a_phrase_is_found_in_many_texts_as_in_one():
    texts = ["guinea pigs", "pigs", "guinea", "two guinea pigs, guinea pig", "a guinea. Pig!"]
    found = search().map_texts(texts)
    assert found.tolist() == [(search().find(text).places.tolist() or [-1])[0] for text in texts]
    assert found[0] == found[3] == search().tree.places["small-pets"]


def test_words_are_lent_to_topics_of_the_same_name_in_other_trees_where_one_has_it():
    tree = [
        Topic("all", "", "everything"),
        Topic("a", "all", "Smartphones"),
        Topic("b", "all", "Cricket"),
        Topic("c", "all", "Insects and spiders"),
        Topic("d", "c", "Cricket"),
    ]
    lent = words_by_topic(Taxonomy.of(tree))
    assert set(lent) == {"a", "c"}
    found = TopicSearch(Taxonomy.of(tree))
    assert [found.tree.ids[place] for place in found.find("prepaid sim card").places] == ["a"]


def test_learned_words_are_of_topics_that_are_there_and_none_twice():
    lent = words_by_topic(DEFAULT)
    assert len(lent) > 300
    for topic, words in lent.items():
        assert topic in DEFAULT.topics
        assert len(set(words)) == len(words)
        assert all(word == word.lower() and word.count("_") <= 1 for word in words)

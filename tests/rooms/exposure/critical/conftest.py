import pytest
from town import Town

POSTS = [
    (0, "I kissed the doctor after the diagnosis of cancer!!"),
    (0, "my garden has roses and tomatoes, see https://garden.example.org/rosebush"),
    (0, "@anna the garden is sooo green haha #roses"),
    (0, "tomatoes and roses in the garden 2019"),
    (1, "the bank refused my loan, what now??"),
    (1, "drunk again :( vodka and whiskey"),
    (1, "whiskey garden party"),
    (2, "nice weather in the mountains today"),
    (2, "roses for the doctor"),
]


@pytest.fixture(scope="session")
def posts():
    return POSTS


@pytest.fixture(scope="session")
def town():
    return Town(POSTS)


@pytest.fixture(scope="session")
def stemmed_town():
    return Town(POSTS, analyser="words:stop_words=english,stemmer=english")

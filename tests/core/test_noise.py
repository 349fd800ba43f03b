"""A source of noise is an object: what was drawn from it shows in copies, and never in equality."""

import copy
import pickle

import pytest

from aidos.core.noise import Noise


@pytest.mark.parametrize("again", [copy.deepcopy, lambda noise: pickle.loads(pickle.dumps(noise))])
def test_a_copy_of_a_seeded_source_goes_on_where_it_stood(again):
    noise = Noise(3)
    first = noise.bits.getrandbits(64)
    later = again(noise)
    assert later.seed == 3
    assert first != (drawn := noise.bits.getrandbits(64)) == later.bits.getrandbits(64)
    assert drawn != Noise(3).bits.getrandbits(64)


def test_randomness_of_the_system_can_be_sent_to_other_processes_and_repeats_nothing():
    sent = pickle.loads(pickle.dumps(Noise()))
    assert not sent.is_repeatable
    assert sent.bits.getrandbits(128) != pickle.loads(pickle.dumps(Noise())).bits.getrandbits(128)


def test_two_sources_are_never_equal():
    assert Noise(3) != Noise(3)
    noise = Noise(3)
    assert noise == noise  # noqa: PLR0124

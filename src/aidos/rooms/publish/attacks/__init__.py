"""Attacks on releases: what an adversary gets out of them, measured.

A guarantee is an argument; an attack is a test of it. Three are here: the active attack with sybil users
(`aidos.rooms.publish.attacks.sybil`), a membership distinguisher that measures a lower bound on epsilon
(`aidos.rooms.publish.attacks.distinguisher`), and a scan for released items that a single person has
(`aidos.rooms.publish.attacks.uniques`). An attack that succeeds refutes a promise. One that fails proves nothing: the
proof stands on the mechanism's theory card.
"""

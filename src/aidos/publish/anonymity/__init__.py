"""k-anonymity for search logs, in the three forms that were proposed for them: to compare with, not to use.

Each hides who searched among k, and each falls to an attacker who makes k accounts of her own: see
`aidos.publish.attacks.sybil`. aidos has them so that the difference can be measured. They add no noise, they bound
nobody's contribution, and nothing about them composes.
"""

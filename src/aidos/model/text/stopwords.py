"""Words that stand in nearly every English text and say little about what it is about.

Function words only: articles, pronouns, prepositions, conjunctions, forms of be, have and do, modal verbs, and their
contractions. Words that may carry meaning in a short query stay ("first", "new", "against", "over", "work").
"""

from __future__ import annotations

__all__ = ["ENGLISH"]

WORDS = """
a an the this that these those
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves who whom whose which what
of to in on at by for from with into onto upon as than about
and or but nor so if because while although though whether
am is are was were be been being have has had having do does did doing
can could may might must shall should will would
not no there here when where why how then too also very just
i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd
i'll you'll he'll she'll it'll we'll they'll that's there's what's who's let's
isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't cannot couldn't mustn't
shan't shouldn't won't wouldn't
"""

ENGLISH = frozenset(WORDS.split())
"""About a hundred and fifty words, in small letters with straight apostrophes."""

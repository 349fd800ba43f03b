"""Compiled functions wake the compiler when they are first called, and do without it for little work."""

import subprocess
import sys
import textwrap


def played(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    return done.stdout


def test_little_work_leaves_the_compiler_asleep_and_finds_the_same() -> None:
    told = played("""
        import sys
        import pyarrow as pa
        from aidos.model.compiled import plainly
        from aidos.model.retrieval.scorers import DIRICHLET
        from aidos.model.text.vocabulary import Vocabulary
        from aidos.rooms.exposure.queries.kernels.scoring import evenness_of, length_norm, match_part
        import numpy as np

        def asked():
            words = Vocabulary()
            scores = [match_part(DIRICHLET, often, 0.1, -1.5) + length_norm(DIRICHLET, 2.0, -1.5) for often in range(9)]
            return scores, evenness_of(np.sort(scores)[::-1].copy(), 9)

        with plainly():
            plain = asked()
        assert "numba" not in sys.modules
        assert asked() == plain
        assert "numba" in sys.modules
        with plainly():
            assert asked() == plain
        words = Vocabulary()
        words.intern(pa.array(["one", "two", "drei ß 漢"]))
        print(words.ids(["two", "four", "drei ß 漢"]).tolist())
    """)
    assert told == "[1, -1, 2]\n"


def test_words_are_found_alike_with_and_without_the_compiler() -> None:
    script = """
        import sys
        import numpy as np
        import pyarrow as pa
        from aidos.model.compiled import plainly
        from aidos.model.text.vocabulary import Vocabulary

        def asked():
            words = Vocabulary()
            words.intern(pa.array([f"wörd{number}" for number in range(40)]))
            return words.ids(["wörd7", "no", "wörd39", ""]).tolist()

        with plainly():
            plain = asked()
        print("numba" in sys.modules, plain, asked() == plain)
    """
    assert played(script) == "False [7, -1, 39, -1] True\n"

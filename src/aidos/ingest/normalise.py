r"""Making queries comparable: explicit, optional, and told in the notes of what is written.

Four steps, each on its own or all together, in this order: compatibility forms (NFKC), control characters, white
space, case. Rows that need no step are recognised by one cheap test and only lower-cased, so that a log in ASCII
costs little more than reading it. Case is changed character by character (``İ`` becomes ``i``); nothing here stems,
corrects or translates.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.engine.embedded import EmbeddedEngine

__all__ = ["AS_TYPED", "NORMALISED", "QueryNormalisation", "prepare"]

WHITE = r"\t-\r\x1C-\x20\x{85}\p{Z}"
"""White space, as Python's ``str.isspace`` has it."""
CONTROL_NOT_WHITE = r"[\x00-\x08\x0E-\x1B\x7F-\x{84}\x{86}-\x{9F}]"
CONTROL_AND_WHITE = r"[\t-\r\x1C-\x1F\x{85}]"
ONLY_CANONICAL = (
    r"\x01-\x7F\x{C0}-\x{131}\x{386}-\x{3CE}\x{400}-\x{52F}\x{5D0}-\x{5EA}\x{621}-\x{64A}"
    r"\x{3041}-\x{3096}\x{30A1}-\x{30FA}\x{4E00}-\x{9FFF}\x{AC00}-\x{D7A3}"
)
"""Letters of large scripts that have no compatibility forms: for them NFKC is NFC, which the engine knows.

Not NUL: the engine's NFC ends a text there.
"""
NFKC = "aidos_nfkc"
"""The same for all other characters, through Python: slower, because Python takes one batch at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryNormalisation:
    """Which of the four steps to take."""

    nfkc: bool = False
    """Replace compatibility characters: full-width letters, ligatures, superscripts."""
    case: bool = False
    """Lower case."""
    white_space: bool = False
    """One blank for every run of white space, none at the ends."""
    control_characters: bool = False
    """Drop control characters; those that are white space become a blank."""

    @classmethod
    def parse(cls, text: str) -> QueryNormalisation:
        """From the steps' names with commas between (``nfkc,case``); "all" or nothing stands for all four."""
        names = [field.name for field in fields(cls)]
        asked = [word.strip().replace("-", "_") for word in text.split(",") if word.strip()]
        if asked in ([], ["all"]):
            return NORMALISED
        if strange := [word for word in asked if word not in names]:
            raise ParameterError(
                f"there is no normalisation called {', '.join(strange)}", hint=f"choose from {', '.join(names)}"
            )
        return cls(**dict.fromkeys(asked, True))

    def __str__(self) -> str:
        """The names of the steps taken."""
        return ",".join(field.name for field in fields(self) if getattr(self, field.name)) or "none"

    def sql(self, text: str, *, plain: bool = False) -> str:
        """The expression that normalises the SQL expression ``text``; `prepare` the engine first.

        ``plain`` texts are known to hold visible ASCII and blanks only: the result is the same, in half the time.
        """
        if self == AS_TYPED:
            return text
        lowered = f"lower({text})" if self.case else text
        mended = f"nullif({self._steps(text)}, '')"
        return f"case when {_is_neat(text, plain=plain)} then {lowered} else {mended} end"

    def _steps(self, text: str) -> str:
        if self.nfkc:
            text = (
                f"case when strlen({text}) = length({text}) then {text}"
                f" when regexp_full_match({text}, '[{ONLY_CANONICAL}]*') then nfc_normalize({text})"
                f" else {NFKC}({text}) end"
            )
        if self.control_characters:
            text = f"regexp_replace({text}, '{CONTROL_NOT_WHITE}', '', 'g')"
        if self.control_characters and not self.white_space:
            text = f"regexp_replace({text}, '{CONTROL_AND_WHITE}', ' ', 'g')"
        if self.white_space:
            text = f"trim(regexp_replace({text}, '[{WHITE}]+', ' ', 'g'))"
        return f"lower({text})" if self.case else text


AS_TYPED = QueryNormalisation()
"""No step: queries stay as they were typed."""
NORMALISED = QueryNormalisation(nfkc=True, case=True, white_space=True, control_characters=True)
"""All four steps."""


def _is_neat(text: str, *, plain: bool) -> str:
    """Whether a text is visible ASCII with single blanks between, so that no step but case can change it.

    The engine writes a blob with escapes for all bytes but visible ASCII and blanks: a text that grows no longer has
    none of the others. A regular expression says the same and takes half as long again.
    """
    visible = f"strlen(cast(encode({text}) as varchar)) = strlen({text})"
    single = f"not contains({text}, '  ') and not starts_with({text}, ' ') and not ends_with({text}, ' ')"
    return f"{single} and {text} <> ''" if plain else f"{visible} and {single} and {text} <> ''"


def prepare(engine: EmbeddedEngine) -> None:
    """Teach the engine NFKC, which it does not know by itself."""
    import duckdb
    from duckdb.func import PythonUDFType

    known = engine.run(f"select count(*) from duckdb_functions() where function_name = '{NFKC}'")
    if known == [(0,)]:
        text = duckdb.sqltypes.VARCHAR
        engine.connection.create_function(NFKC, _nfkc, [text], text, type=PythonUDFType.ARROW)


def _nfkc(texts: Any) -> Any:
    """Arrow arrays in and out; the engine evaluates annotations, and pyarrow's exist for type checkers only."""
    import pyarrow.compute as pc

    return pc.call_function("utf8_normalize", [texts], pc.Utf8NormalizeOptions("NFKC"))

"""The words of a language as data (`en.toml`, `zh.toml`): lists, patterns, frames of prose, and rows of statements.

In a pattern `{part}` matches a word of that list and is a group of that name; `{a}` and `{b}` are names that are
groups, `{n}` is any name, and `{NAME}` the name that is asked about. Case does not matter.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ValidationInfo

NAME: Final = "\x02\x03"
"""The first character of a name in a masked sentence, and all others."""
_HOLE: Final = re.compile(r"\{([a-z]+)\}")


def _filled(text: str, info: ValidationInfo) -> str:
    """A pattern with the words of the lists and the marks of names in its holes."""
    lists: dict[str, str] = info.context or {}

    def filled(hole: re.Match[str]) -> str:
        words = "|".join(lists[hole[1]].split()) if hole[1] in lists else f"{NAME[0]}{NAME[1]}*"
        return f"(?:{words})" if hole[1] == "n" else f"(?P<{hole[1]}>{words})"

    return "(?i)" + _HOLE.sub(filled, text)


Filled = Annotated[str, BeforeValidator(_filled)]
Pattern = Annotated[re.Pattern[str], BeforeValidator(_filled)]
_ANY, _NONE = re.compile("^"), re.compile("(?!)")


class Row(BaseModel):
    """A row of the statement table: the sentence patterns of one kind of statement, and what it adds to an answer.

    A sentence counts with `needs`, and without `unless` in its paragraph up to its end. It must not be a dream, a wish
    or a denial, unless the row is `reported`. The values of `gives` are filled from the groups of its form; a list
    there is the names within the first of the groups that holds any (`line`: the sentence).

    A row of `states` is one that a later statement may contradict: its `attribute` is filled from the groups, the value
    is the group of that name unless the row has one. Only sources with `binds` contradict a draft.
    Without a group `a` it is about the nearest name before: with `near` in the same clause. A `lasting` state is that
    of a person, and a fact.
    """

    form: list[Pattern]
    gives: dict[str, str | bool | list[str]] = {}
    needs: Pattern = _ANY
    unless: Pattern = _NONE
    reported: bool = False
    attribute: str = ""
    value: str = ""
    binds: Pattern = _ANY
    near: bool = False
    lasting: bool = False


class LanguageTables(BaseModel):
    """The word tables of the offline model for one language."""

    lists: dict[str, str]
    phrases: dict[str, str]
    same: dict[str, str]
    frames: dict[str, list[str]]
    worn: list[tuple[re.Pattern[str], str]]
    kinds: list[tuple[str, Filled]]
    patterns: dict[str, Pattern]
    rows: dict[str, list[Row]]

    def kind(self, name: str, text: str) -> str:
        """The kind of entity that a text suggests, such as a note that begins with the name."""
        forms = ((kind, form.replace("{NAME}", re.escape(name))) for kind, form in self.kinds)
        return next((kind for kind, form in forms if re.search(form, text)), "")


@cache
def words_of(chinese: bool) -> LanguageTables:
    """The tables of the language of a book."""
    table = tomllib.loads((files(__package__) / f"{'zh' if chinese else 'en'}.toml").read_text("utf-8"))
    return LanguageTables.model_validate(table, context=table["lists"])

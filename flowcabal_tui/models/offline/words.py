"""The words of a language as data: lists, patterns of sentences, and frames of prose (`en.toml`, `zh.toml`).

In a pattern `{part}` matches a word of that list and is a group of that name; `{a}` and `{b}` are names that are
groups, `{n}` is any name. Case does not matter.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Final

from pydantic import BaseModel

NAME: Final = "\x02\x03"
"""The first character of a name in a masked sentence, and all others."""
_HOLE: Final = re.compile(r"\{([a-z]+)\}")
_ANY, _NONE = re.compile("^"), re.compile("(?!)")


class State(BaseModel):
    """A row of the table of states: a statement of a sentence that a later one may contradict.

    `attribute` is filled from the groups of `form`; the value is the group of that name, unless the row has one. A
    sentence counts with `needs` and without `unless`; with `around` no sentence of its paragraph may have that. Only
    sources with `binds` contradict a draft. With `near` the name is in the same clause; with `person` it is that of a
    person. A `lasting` state is a fact of the story.
    """

    attribute: str
    angle: str
    subtype: str
    form: re.Pattern[str]
    value: str = ""
    needs: re.Pattern[str] = _ANY
    unless: re.Pattern[str] = _NONE
    around: re.Pattern[str] = _NONE
    binds: re.Pattern[str] = _ANY
    near: bool = False
    person: bool = False
    lasting: bool = False


class Words:
    """The tables of one language."""

    def __init__(self, language: str) -> None:
        self._table = tomllib.loads((files(__package__) / f"{language}.toml").read_text("utf-8"))
        self.lists: dict[str, list[str]] = {name: words.split() for name, words in self._table["lists"].items()}
        self.frames: dict[str, list[str]] = self._table["frames"]
        self.said: dict[str, str] = self._table["said"]
        self.same: dict[str, str] = self._table["same"]
        self.worn: list[list[str]] = self._table["worn"]

    def pattern(self, key: str, name: str = "") -> re.Pattern[str]:
        """A pattern of the table; `name` takes the place of `{name}`."""
        return re.compile(self._filled(self._table["patterns"][key].replace("{name}", re.escape(name))))

    @cached_property
    def rows(self) -> dict[str, list[re.Pattern[str]]]:
        """The patterns of each kind of sentence."""
        return {kind: [re.compile(self._filled(each)) for each in rows] for kind, rows in self._table["rows"].items()}

    @cached_property
    def states(self) -> list[State]:
        """The table of states: a row for each form and, where it is about events, for each of them."""
        return [State.model_validate(row) for row in self._states()]

    def _states(self) -> Iterator[dict[str, Any]]:
        for row in self._table["state"]:
            filled = {key: self._filled(row[key]) for key in ("needs", "unless", "around", "binds") if key in row}
            for form in row["form"]:
                one = {**row, **filled, "form": self._filled(form)}
                for event, needs in self._table["events"].items() if row.get("events") else ():
                    yield {**one, "attribute": f"{row['attribute']} {event}", "needs": self._filled(needs)}
                if not row.get("events"):
                    yield one

    def _filled(self, text: str) -> str:
        """A pattern with the words of the lists and the marks of names in its holes."""

        def filled(hole: re.Match[str]) -> str:
            words = "|".join(self.lists[hole[1]]) if hole[1] in self.lists else f"{NAME[0]}{NAME[1]}*"
            return f"(?:{words})" if hole[1] == "n" else f"(?P<{hole[1]}>{words})"

        return "(?i)" + _HOLE.sub(filled, text).removeprefix("(?i)")


@cache
def words_of(chinese: bool) -> Words:
    """The tables of the language of a book."""
    return Words("zh" if chinese else "en")

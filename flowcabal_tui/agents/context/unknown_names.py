"""Finds names in a prompt that no index knows: capitalised words, items of a list, words joined to a known name."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice
from typing import Final

from flowcabal_tui.agents.words import word_list, words_of

EMPTY_HAN: Final = frozenset("".join(words_of("empty.zh")))
EMPTY_WORDS: Final = word_list("empty.en")
_NOT_NAMES: Final = word_list("not_names.en")
_NOBODY: Final = words_of("not_names.zh")
_SURNAMES: Final = words_of("surnames.zh")
_CAPITAL: Final = re.compile(r"(?<=[a-z,;’\n] )[A-Z\u00c0-\u00de][\w\u00df-\u00ff-]{2,}")
_LISTED: Final = re.compile(r"(?<![\u3007\u4e00-\u9fff、])[\u3007\u4e00-\u9fff]+(?:、[\u3007\u4e00-\u9fff]+){2,}")
_LONGEST_LISTED: Final = 6
_AND: Final = "与和"
_NUMERALS: Final = frozenset("二三四五六七八九十")
"""Parts of names (四儿, 九头狮子); other characters of the empty words end a name."""
_RUN: Final = re.compile(f"(?:(?![{''.join(sorted(EMPTY_HAN - _NUMERALS))}])[\\u3007\\u4e00-\\u9fff])+")
_LONGEST: Final = 4
_FULL_NAME: Final = 3
_MOST_JOINED: Final = 64
"""Maximum joined names that are searched for in the rest of the text, which bounds the time of an assembly."""


def capitalised(text: str, language: str) -> tuple[str, ...]:
    """Capitalised words inside a sentence, in a language with capitals."""
    if language.startswith("zh"):
        return ()
    words = (word for match in _CAPITAL.finditer(text) for word in match[0].split("-"))
    named = (word for word in words if len(word) > 2 and word.lower() not in EMPTY_WORDS)
    return tuple(dict.fromkeys(word for word in named if word not in _NOT_NAMES))


def listed(text: str, known: Collection[str]) -> tuple[str, ...]:
    """The further items of a Chinese list of names of which at least half are `known`: "行者、八戒、阎王"."""
    found: dict[str, None] = {}
    for match in _LISTED.finditer(text):
        items = match[0].split("、")
        others = [item for item in items if item not in known]
        if 2 * len(others) <= len(items):
            found |= dict.fromkeys(item for item in others if 2 <= len(item) <= _LONGEST_LISTED)
    return tuple(found)


def beside(text: str, known: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """The names that "与" or "和" joins to one of the `known` names, in their forms: "八戒与金星的一场戏",
    "四儿与宝玉".

    A name ends at a function character or where the Chinese text does; it begins, where no such border is near, where
    the prompt repeats it. Of a full name of three characters the last two are a form: 贾元春, 元春.
    """
    names = "|".join(re.escape(name) for name in sorted(known, key=lambda each: (-len(each), each)) if name)
    if not names:
        return ()
    found: dict[str, None] = {}
    for match in re.finditer(f"(?:{names})(?=[{_AND}])", text):
        after = _RUN.match(text, match.end() + 1)
        found |= dict.fromkeys([after[0]] if after else [])
    joined: dict[str, None] = {}
    for match in re.finditer(f"(?<=[{_AND}])(?:{'|'.join(_SURNAMES)})?(?:{names})", text):
        runs = _RUN.findall(text[max(0, match.start() - 1 - _LONGEST) : match.start() - 1] + "\n")
        joined |= dict.fromkeys(runs[-1:] if runs and text[match.start() - 2] == runs[-1][-1] else [])
    for before in islice(joined, _MOST_JOINED):
        repeated = (before[at:] for at in range(len(before) - 1) if text.count(before[at:]) > 1)
        found |= dict.fromkeys([item] if (item := next(repeated, "")) else [])
    items = (item for item in found if 2 <= len(item) <= _LONGEST and not item.startswith(_NOBODY))
    return tuple(_forms(item) for item in items if not any(name in item for name in known))


def _forms(name: str) -> tuple[str, ...]:
    return (name, name[1:]) if len(name) == _FULL_NAME and name[0] in _SURNAMES else (name,)

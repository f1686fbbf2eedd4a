"""Texts for the user: gettext with the catalogues in this folder.

English is the language of the source; `zh_CN` is complete, which a test verifies. The language of the screen is
independent of that of the book.
"""

from __future__ import annotations

import gettext as _gettext
import locale as _locale
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

LANGUAGES: Final = ("en", "zh_CN")
_HERE = Path(__file__).parent
_translation: _gettext.NullTranslations = _gettext.NullTranslations()
_language: str = "en"
_named_keys: Mapping[str, Mapping[str, str]] = {}


def _from_environment() -> str:
    for name in ("FLOWCABAL_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value
    return _locale.getlocale()[0] or "en"


def use_language(code: str | None = None) -> str:
    """Switches the texts to `code` ("en", "zh", "zh_CN.UTF-8"; None: from the environment).

    Returns the language in use: one of LANGUAGES.
    """
    global _translation, _language
    _language = "zh_CN" if (code or _from_environment()).lower().startswith("zh") else "en"
    _translation = _gettext.translation("flowcabal", _HERE, languages=[_language], fallback=True)
    return _language


def language_in_use() -> str:
    """The language of the texts: one of LANGUAGES."""
    return _language


def use_keys(named: Mapping[str, Mapping[str, str]]) -> None:
    """Replaces keys in the texts: `named` maps messages, by their English text, to the bound key for each default
    one."""
    global _named_keys
    _named_keys = named


def _with_keys(text: str, words: str) -> str:
    if text not in _named_keys:
        return words
    keys = _named_keys[text]
    usual = "|".join(re.escape(key) for key in sorted(keys, key=len, reverse=True))
    pattern = rf"(?<=`)({usual})(?=`)|(?<![A-Za-z0-9+`])({usual})(?![A-Za-z0-9`])"
    return re.sub(pattern, lambda found: keys[found[0]] if len(found[0]) > 1 or found[1] else found[0], words)


def _(text: str) -> str:
    """The user's word for `text`."""
    return _with_keys(text, _translation.gettext(text)) if text else ""


def in_every_language(text: str) -> frozenset[str]:
    """The text in each of LANGUAGES: whoever types what the program prints may have read it in another one."""
    known = (_gettext.translation("flowcabal", _HERE, languages=[code], fallback=True) for code in LANGUAGES)
    return frozenset((text, *(each.gettext(text) for each in known)))


def ngettext(one: str, many: str, n: int) -> str:
    """The user's text for `n` things."""
    return _with_keys(one, _translation.ngettext(one, many, n))


def mark(text: str) -> str:
    """Marks `text` for the catalogue without translating it yet: for tables made at import time."""
    return text


def sentences(*parts: str) -> str:
    """The parts that are not empty, one after another: no blank follows the full-width mark that ends a sentence."""
    return re.sub("(?<=[。！？；：]) ", "", " ".join(filter(None, parts)))

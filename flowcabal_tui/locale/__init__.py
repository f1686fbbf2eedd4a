"""Words for the user: gettext with the catalogues that lie beside this file.

English is the language of the source; `zh_CN` is complete (a test holds it). The language of the
screen is apart from the language of the book.
"""

from __future__ import annotations

import gettext as _gettext
import locale as _locale
import os
from pathlib import Path
from typing import Final

LANGUAGES: Final = ("en", "zh_CN")
_HERE = Path(__file__).parent
_translation: _gettext.NullTranslations = _gettext.NullTranslations()
_language: str = "en"


def _from_environment() -> str:
    for name in ("FLOWCABAL_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value
    return _locale.getlocale()[0] or "en"


def use_language(code: str | None = None) -> str:
    """Switch the words to `code` ("en", "zh", "zh_CN.UTF-8"; None: from the environment).

    Returns the language that is in use: one of LANGUAGES.
    """
    global _translation, _language
    _language = "zh_CN" if (code or _from_environment()).lower().startswith("zh") else "en"
    _translation = _gettext.translation("flowcabal", _HERE, languages=[_language], fallback=True)
    return _language


def language_in_use() -> str:
    """The language of the words: one of LANGUAGES."""
    return _language


def _(text: str) -> str:
    """The user's word for `text`."""
    return _translation.gettext(text) if text else ""


def ngettext(one: str, many: str, n: int) -> str:
    """The user's word for `n` things."""
    return _translation.ngettext(one, many, n)


def mark(text: str) -> str:
    """Marks `text` for the catalogue without translating it yet: for tables made at import time."""
    return text

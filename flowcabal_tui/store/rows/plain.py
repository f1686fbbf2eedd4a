"""Values as JSON in a column."""

from __future__ import annotations

import json
from typing import Any, Final

from flowcabal_tui.domain.text import clean

_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def compact_json(plain: Any) -> str:
    """JSON without blanks; non-ASCII characters are not escaped."""
    return _COMPACT.encode(plain)


def cleaned(plain: Any) -> Any:
    """The value with control sequences removed from all its texts."""
    match plain:
        case str():
            return clean(plain)
        case list():
            return [cleaned(each) for each in plain]
        case dict():
            return {name: cleaned(each) for name, each in plain.items()}
    return plain

"""Values as JSON in a column."""

from __future__ import annotations

import json
from typing import Any

from flowcabal_tui.domain.text import clean


def compact_json(plain: Any) -> str:
    """JSON without blanks; non-ASCII characters are not escaped."""
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


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

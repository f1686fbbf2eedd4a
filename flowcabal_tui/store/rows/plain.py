"""Values as JSON in a column."""

from __future__ import annotations

import json
from typing import Any, Final

_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def compact_json(plain: Any) -> str:
    """JSON without blanks; non-ASCII characters are not escaped."""
    return _COMPACT.encode(plain)

"""The user's settings that the first frame needs, read without the library that checks them.

What looks wrong here is left to `user_file.load_user`, which names file, line and key.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields

from flowcabal_tui.settings import paths


@dataclass(frozen=True, slots=True)
class Glance:
    """The same names and defaults as in `UserSettings` (a test holds them together)."""

    language: str = ""
    theme: str = "ink"
    editor: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    wizard_done: bool = False


def glance() -> Glance:
    """What the file says. Raises SettingsError."""
    try:
        found = tomllib.loads(paths.user_file().read_text(encoding="utf-8"))
        known = {item.name: found[item.name] for item in fields(Glance) if item.name in found}
        plain = all(type(value) is type(getattr(Glance(), name)) for name, value in known.items())
        if plain and all(isinstance(key, str) for key in known.get("keys", {}).values()):
            return Glance(**known)
    except FileNotFoundError:
        return Glance()
    except (OSError, ValueError):
        pass
    from flowcabal_tui.settings.user_file import load_user

    user = load_user()
    return Glance(**{item.name: getattr(user, item.name) for item in fields(Glance)})

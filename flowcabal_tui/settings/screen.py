"""The settings of `config.toml` that the first frame needs, read without the validation library."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.file_text import read_toml


def _described(default: Any, words: str) -> Any:
    return field(default=default, metadata={"description": words})


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """Settings of the screen. `keys` maps the id of an action to keys, as in `{"run.start": "f5,r"}`."""

    language: str = _described("", "Language of the screen: en, zh, or empty for the environment's.")
    theme: str = _described("ink", "Name of a theme, such as ink, paper, ansi-dark.")
    editor: str = _described("", "Command of an external editor; empty: $VISUAL, then $EDITOR.")
    keys: dict[str, str] = field(default_factory=dict, metadata={"description": "Keys by the id of an action."})
    wizard_done: bool = _described(False, "Whether the first steps were shown.")


def load_screen() -> ScreenSettings | None:
    """The file's settings of the screen; None for an invalid file, whose errors `load_user` reports."""
    try:
        found = read_toml(paths.user_file().read_text(encoding="utf-8"))
        known = {item.name: found[item.name] for item in fields(ScreenSettings) if item.name in found}
        plain = all(type(value) is type(getattr(ScreenSettings(), name)) for name, value in known.items())
        if plain and all(isinstance(key, str) for key in known.get("keys", {}).values()):
            return ScreenSettings(**known)
    except FileNotFoundError:
        return ScreenSettings()
    except (OSError, ValueError):
        pass
    return None

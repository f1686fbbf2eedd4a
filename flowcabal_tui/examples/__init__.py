"""Example workflows, as documents: `<name>.<language>.json` or `.yaml`, in the language of the book."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from flowcabal_tui.dialects.reading import load
from flowcabal_tui.domain.workflow import Workflow

NAMES: Final = ("recursive_polish", "five_openings", "text_adventure")


def example(name: str, language: str) -> Workflow:
    """The example `name` for a book in `language` (a code such as "zh_CN"): Chinese, else English."""
    code = "zh" if language.lower().startswith("zh") else "en"
    folder = files("flowcabal_tui.examples")
    document = next(one for form in ("json", "yaml") if (one := folder / f"{name}.{code}.{form}").is_file())
    return Workflow.model_validate(load(document.read_text(encoding="utf-8")))

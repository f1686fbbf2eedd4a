"""The words of the rule-based builder, by language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def words(language: str, table: str = "") -> dict[str, Any]:
    """The table `<table>.<language>.toml`, or `<language>.toml`, of a language: Chinese, else English.

    A vocabulary also contains `common.toml`, which all languages share.
    """
    code = "zh" if language.lower().startswith("zh") else "en"
    name = f"{table}.{code}.toml" if table else f"{code}.toml"
    shared = (files(__name__) / "common.toml").read_text(encoding="utf-8") if table else ""
    return tomllib.loads(shared) | tomllib.loads((files(__name__) / name).read_text(encoding="utf-8"))

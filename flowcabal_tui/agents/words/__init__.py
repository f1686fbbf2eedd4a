"""Word lists for the rules that work without a model, one text file each."""

from __future__ import annotations

from importlib.resources import files


def word_list(name: str) -> frozenset[str]:
    """The words of `<name>.txt`, which are separated by white space."""
    return frozenset((files(__name__) / f"{name}.txt").read_text(encoding="utf-8").split())

"""Word lists for the rules that work without a model, one text file each."""

from __future__ import annotations

from importlib.resources import files


def words_of(name: str) -> tuple[str, ...]:
    """The words of `<name>.txt`, which are separated by white space, in their order: patterns try them in it."""
    return tuple((files(__name__) / f"{name}.txt").read_text(encoding="utf-8").split())


def word_list(name: str) -> frozenset[str]:
    """The words of `<name>.txt` as a set."""
    return frozenset(words_of(name))


def word_groups(name: str) -> dict[str, tuple[str, ...]]:
    """The words of `<name>.txt` by group, of which each is a line `group: word word`."""
    lines = (files(__name__) / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    groups = (line.partition(":") for line in lines if line.strip())
    return {group.strip(): tuple(words.split()) for group, _colon, words in groups}

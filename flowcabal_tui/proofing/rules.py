"""The table of all rules, and the proofing of a text by selected ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from flowcabal_tui.domain.proofing import ProofMark, ProofRule
from flowcabal_tui.proofing import chinese, english
from flowcabal_tui.proofing.echoes import chinese_echoes, english_echoes, repeats

Check = Callable[[str], Iterator[ProofMark]]
_CHINESE: Final[dict[ProofRule, Check]] = {
    "wrong-words": chinese.wrong_characters,
    "half-width": chinese.half_width,
    "doubled-marks": chinese.doubled_marks,
    "quotes": chinese.quotes,
    "doubled-words": chinese.doubled_words,
    "de": chinese.particles,
    "echoes": chinese_echoes,
}
_ENGLISH: Final[dict[ProofRule, Check]] = {
    "wrong-words": english.misspellings,
    "doubled-marks": english.doubled_marks,
    "quotes": english.quotes,
    "doubled-words": english.doubled_words,
    "echoes": english_echoes,
}


def rules_for(language: str) -> tuple[ProofRule, ...]:
    """The rules of a language."""
    return (*(_CHINESE if language.startswith("zh") else _ENGLISH), "repeats")


def proof(
    text: str, language: str, rules: Collection[ProofRule], others: Sequence[tuple[int, str]] = ()
) -> tuple[ProofMark, ...]:
    """The marks of the rules in a text, in its order. `others` are the chapters that `repeats` compares with."""
    is_chinese = language.startswith("zh")
    checks = _CHINESE if is_chinese else _ENGLISH
    marks = [mark for rule, check in checks.items() if rule in rules for mark in check(text)]
    if "repeats" in rules:
        marks += repeats(text, others, chinese=is_chinese)
    return tuple(sorted(marks, key=lambda mark: (mark.start, mark.end, mark.rule)))


def proof_chapters(
    texts: dict[int, str], wanted: tuple[int, ...], language: str, rules: tuple[ProofRule, ...]
) -> dict[int, tuple[ProofMark, ...]]:
    """The marks of each wanted chapter, by its position."""
    return {
        position: proof(texts[position], language, rules, [each for each in texts.items() if each[0] != position])
        for position in wanted
    }

"""The table of all rules, and the proofing of a text by selected ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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


def proof(text: str, language: str, rules: Collection[ProofRule]) -> tuple[ProofMark, ...]:
    """The marks of the rules in a text, in its order; `repeats` needs the whole book, see `proof_chapters`."""
    checks = _CHINESE if language.startswith("zh") else _ENGLISH
    return _in_order(mark for rule, check in checks.items() if rule in rules for mark in check(text))


def proof_chapters(
    texts: Mapping[int, str], wanted: Sequence[int], language: str, rules: Collection[ProofRule]
) -> dict[int, tuple[ProofMark, ...]]:
    """The marks of each wanted chapter, by its position. `texts` also has those that `repeats` compares with."""
    again = repeats(texts, wanted, chinese=language.startswith("zh")) if "repeats" in rules else {}
    return {
        position: _in_order((*proof(texts[position], language, rules), *again.get(position, ()))) for position in wanted
    }


def _in_order(marks: Iterable[ProofMark]) -> tuple[ProofMark, ...]:
    return tuple(sorted(marks, key=lambda mark: (mark.start, mark.end, mark.rule)))

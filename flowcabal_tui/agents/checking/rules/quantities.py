"""Numbers of a text as ranges: `三十来岁` is 30 to 39, `十五六` 15 to 16, `nearly twenty` 17 to 20."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.headings.numerals import chinese_number, english_number

NUMBER_ZH: Final = r"[0-9０-９一二两三四五六七八九十百千万廿卅]{1,9}"
_SMALL_EN: Final = alternatives(word_table("rules", "numbers")["small_en"])
NUMBER_EN: Final = (
    rf"(?:[0-9][0-9,]{{0,11}}|(?:a|half a|{_SMALL_EN})"
    rf"(?:[- ](?:and[- ])?(?:{_SMALL_EN}|hundred|thousand|million)\b){{0,6}}|"
    r"(?:a )?(?:hundred|thousand|million|score|dozen))"
)
_TWO_DIGITS: Final = re.compile(r"(?<=[一二三四五六七八九])[一二三四五六七八九]$")
_SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_BESIDE: Final = word_table("rules", "near")


@dataclass(frozen=True, slots=True)
class Range:
    """The range from the lowest to the highest value that the words allow."""

    least: float
    most: float

    def gap_to(self, other: Range) -> float:
        """The distance by which this range lies above the other (below: negative); 0 if they overlap."""
        return max(0.0, self.least - other.most) - max(0.0, other.least - self.most)


def range_of(number: str, around: str, language: str) -> Range | None:
    """The range that a numeral and the words around it allow; None when it cannot be read."""
    values = _chinese(number) if language.startswith("zh") else _english(number)
    if values is None:
        return None
    least, most = values
    step = 10 if most >= 20 else 2
    if any(word in around for word in _BESIDE["less"]):
        return Range(max(0, least - step), most - 0.5)
    if any(word in around for word in _BESIDE["over"]):
        return Range(least, most + (step - 1 if most < 100 else most / 2))
    if any(word in around for word in _BESIDE["near"]):
        return Range(least - max(2, least * 0.1), most)
    if any(word in around for word in _BESIDE["about"]):
        return Range(least - max(2, least * 0.15), most + max(2, most * 0.15))
    return Range(least, most)


def _chinese(number: str) -> tuple[float, float] | None:
    whole, _wan, rest = number.partition("万") if "万" in number else ("", "", number)
    scale = chinese_number(whole) if whole else 0
    if "万" in number and whole and scale is None:
        return None
    more = 0
    if found := _TWO_DIGITS.search(rest):
        if not set(rest) & set("十百千") and len(rest) > 2:
            return None
        more = (chinese_number(found[0]) or 0) - (chinese_number(rest[-2]) or 0)
        rest = rest[:-1]
        if more not in (1, 2):
            return None
    value = chinese_number(rest) if rest else 0
    if value is None:
        return None
    total = 10_000 * (scale or 0) + value
    return total, total + more


def _english(number: str) -> tuple[float, float] | None:
    text = number.lower().replace(",", "").strip()
    if text.isdigit():
        return float(text), float(text)
    total, group = 0.0, 0.0
    for word in re.split(r"[- ]+", text):
        if word in ("and", ""):
            continue
        if word in _SCALES:
            group = (group or 1) * _SCALES[word]
            if word != "hundred":
                total, group = total + group, 0
        elif word == "a":
            if text == "a":
                return 1.0, 1.0
        elif word == "half":
            group = 0.5
        else:
            value = {"score": 20, "dozen": 12}.get(word) or english_number(word)
            if value is None:
                return None
            group += value if word not in ("score", "dozen") or not group else group * value - group
    return (total + group,) * 2

"""Parses the numbers of chapters: Chinese, Roman, and English words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from flowcabal_tui.headings.words import words_of

_DIGITS: Final = (
    {c: i for i, c in enumerate("零一二三四五六七八九")}
    | {c: i for i, c in enumerate("零壹贰叁肆伍陆柒捌玖")}
    | {c: i for i, c in enumerate("〇壹貳參肆伍陸柒捌玖")}
    | {"○": 0, "两": 2, "兩": 2, "弌": 1, "弍": 2, "叄": 3}
)
_UNITS: Final = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_TENS: Final = {"廿": 20, "卄": 20, "卅": 30, "卌": 40}
NUMERAL: Final = rf"[0-9{''.join(dict.fromkeys([*_DIGITS, *_UNITS, *_TENS]))}]{{1,9}}"
"""A pattern for Chinese numerals and digits."""
_TY: Final = words_of("numbers", "tens")
_WORDS: Final = (
    {word: n for n, word in enumerate(words_of("numbers", "small"))}
    | {word: n for n, word in enumerate(words_of("numbers", "ordinals"))}
    | {word: 10 * n for n, word in enumerate(_TY, 2)}
    | {f"{word[:-1]}ieth": 10 * n for n, word in enumerate(_TY, 2)}
    | {"hundred": 100, "hundredth": 100}
)
_ROMAN: Final = re.compile(r"^(?=.)m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})$")
_PLAIN_NUMBER: Final = re.compile(r"[0-9]{1,9}(?=[\s.:,—–-]|$)")
_ROMAN_PARTS: Final = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X")),
    *((9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_ROMAN_DIGITS: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


def chinese_number(text: str) -> int | None:
    """`一百二十`, `一二〇`, `廿三`, `拾贰`, `１２` or `12` as an int; None when it is not a numeral."""
    text = unicodedata.normalize("NFKC", text)
    if text.isascii():
        return int(text) if text.isdigit() else None
    if not any(c in _UNITS or c in _TENS for c in text):
        digits = [_DIGITS.get(c, int(c) if c.isascii() and c.isdigit() else None) for c in text]
        return int("".join(map(str, digits))) if None not in digits else None
    total, digit = 0, 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _TENS:
            total, digit = total + _TENS[character], 0
        elif character in _UNITS:
            total, digit = total + (digit or 1) * _UNITS[character], 0
        else:
            return None
    return total + digit


def english_number(text: str) -> int | None:
    """`12`, `XII`, `twelve`, `twenty-first`, `one hundred and four` as an int; None when it is not a numeral."""
    words = re.split(r"[\s-]+", text.strip().lower())
    number, used = _leading(words)
    return number if used == len(words) else None


def leading_number(text: str) -> tuple[int | None, str]:
    """The English numeral at the beginning of a text, and the rest; (None, text) if there is none."""
    if plain := _PLAIN_NUMBER.match(text):
        return int(plain[0]), text[plain.end() :]
    head, *rest = re.split(r"(?=[.:,—–])", text, maxsplit=1)
    parts = re.split(r"([\s-]+)", head)
    number, used = _leading([part.lower() for part in parts[::2]])
    return (None, text) if number is None else (number, "".join([*parts[2 * used - 1 :], *rest]))


def _leading(words: Sequence[str]) -> tuple[int | None, int]:
    """The number at the beginning of `words`, from as many of them as possible, and how many words it takes."""
    first = words[0] if words else ""
    if digits := re.fullmatch(r"([0-9]{1,9})(?:st|nd|rd|th)?", first):
        return int(digits[1]), 1
    if first in _WORDS:
        return _in_words(words)
    if _ROMAN.match(first):
        values = [_ROMAN_DIGITS[c] for c in first]
        return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True)), 1
    return None, 0


def _in_words(words: Sequence[str]) -> tuple[int, int]:
    """See `_leading`; a smaller number joins the one before it (twenty one, hundred and four), no larger one does."""
    total, used, space = 0, 0, 1000
    for place, word in enumerate(words):
        value = _WORDS.get(word)
        if value == 100 and 0 < total < 10:
            total, used, space = total * 100, place + 1, 100
        elif value is not None and value < space and (value or not used):
            total, used = total + value, place + 1
            space = 10 if value % 10 == 0 and value >= 20 else 1
        elif not (word == "and" and total and total % 100 == 0):
            break
    return total, used


def in_chinese(number: int) -> str:
    """ "二十三" for 23; digits from ten thousand on, which no chapter has."""
    if not 0 < number < 10_000:
        return str(number)
    digits, words = "零一二三四五六七八九", ""
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, unit)
        if digit:
            words += digits[digit] + name
        elif words and number and not words.endswith("零"):
            words += "零"
    return words.removeprefix("一") if words.startswith("一十") else words


def in_roman(number: int) -> str:
    """ "XIV" for 14; digits from 4000 on."""
    if not 0 < number < 4000:
        return str(number)
    words = ""
    for value, name in _ROMAN_PARTS:
        times, number = divmod(number, value)
        words += name * times
    return words


def in_letters(number: int) -> str:
    """ "C" for 3 and "AA" for 27, as Word counts."""
    times, place = divmod(number - 1, 26)
    return chr(ord("A") + place) * min(times + 1, 10) if number > 0 else str(number)

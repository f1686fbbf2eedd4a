"""Every pattern of the program takes steps in proportion to the text, whatever the text: documents are hostile."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache

import pytest

import flowcabal_tui
from flowcabal_tui.domain.late_pattern import LatePattern
from tests.pattern_steps import ends, steps

UNITS = (
    *("{{", "{{a", "${", "{ ", "[", "['", "a", " ", "\n", "雨", "\x1b]", "\x1b[0", "\x9b", "result_of.", "//", '"'),
    *("a|", "a-", ".", "“", "Aa ", "{%", "# ", "一", "7", '<source id="', '<source id="a">', "<task>"),
    *("<", "<script>", "<script></style>"),
)
"""A text that repeats one of these is where a careless pattern begins again at every place."""
SIZE, FACTOR = 8, 6
REVIEWED = {
    "flowcabal_tui.headings.numerals._PLAIN_NUMBER": "takes nine digits at most, at the beginning of a text",
    "flowcabal_tui.project.book.mirror._MIRRORED": "is matched with a whole file name",
    "flowcabal_tui.headings.scenes._PLAIN": "refers back; each round begins with one sign, matched with a whole line",
    "flowcabal_tui.headings.scenes._TITLED": "refers back; is matched with a whole line, its title has 80 characters",
    "flowcabal_tui.proofing.english._TWICE": "refers back; begins and ends at the ends of a word",
}


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """The patterns that modules hold, by name."""
    found: dict[str, re.Pattern[str]] = {}
    for each in pkgutil.walk_packages(flowcabal_tui.__path__, "flowcabal_tui."):
        if not each.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(each.name)).items():
                held = value.compiled if isinstance(value, LatePattern) else value
                if isinstance(held, re.Pattern) and isinstance(held.pattern, str):
                    found[f"{each.name}.{name}"] = held
    return found


def growth(pattern: re.Pattern[str]) -> float:
    """By how much the steps grow with the text at worst: 1 is in proportion, `FACTOR` with its square."""
    return max(steps(pattern, unit * SIZE * FACTOR) / steps(pattern, unit * SIZE) / FACTOR for unit in UNITS)


def test_every_pattern_takes_steps_in_proportion_to_the_text():
    slow = {name: growth(pattern) for name, pattern in patterns().items() if name not in REVIEWED}
    assert {name: grown for name, grown in slow.items() if grown > 2} == {}


def test_every_reviewed_pattern_is_still_there():
    assert REVIEWED.keys() <= patterns().keys()
    assert "flowcabal_tui.domain.text._ESCAPES" in patterns(), "those that are compiled late, too"


@pytest.mark.parametrize("pattern", [r"\{\{.*?\}\}", r"^\s*a?\s*b", r"^[^|]+?\s*\|", r"a+b", r"\w+day"])
def test_a_pattern_that_begins_again_at_every_place_is_found(pattern):
    assert growth(re.compile(pattern, re.DOTALL)) > 2


@pytest.mark.parametrize("pattern", [r"\{\{([^{}]+)\}\}", r"(?:a|b)*c?", r"x{2,5}y", r"(?<=//)[^/]*@"])
def test_a_linear_pattern_does_not_grow(pattern):
    assert growth(re.compile(pattern)) < 2


@pytest.mark.parametrize(
    "pattern",
    [r"a(b|c)*d", r"\{\s*\"", r"^x+?y$", r"(?<!a)b", r"[^\W\d_][\w'’-]*", r"(?m)^\w+$", r"\bb", r"(?:b|c)++.?"],
)
@pytest.mark.parametrize("text", ["", "abcbd abd", '{  "a"', "xxy", "bab\nb", "雨 it's_1"])
def test_the_model_finds_what_the_engine_finds(pattern, text):
    compiled = re.compile(pattern)
    assert ends(compiled, text) == [match.end() for match in compiled.finditer(text) if match[0]]

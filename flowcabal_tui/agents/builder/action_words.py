"""Steps for actions of the registry, found in a wish by the words of their ids and descriptions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from flowcabal_tui.agents.builder.forms import Step
from flowcabal_tui.agents.builder.wish import Hit, Wish
from flowcabal_tui.agents.builder.working_copy import Known
from flowcabal_tui.nodes.validation.scope import ActionShape

_IN_MAIL: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_")


def action_steps(found: Wish, known: Known, language: str) -> list[Step]:
    """Steps in the order of the wish; what stands behind an approval is done after a yes only."""
    placed = sorted(_placed(found, known.actions or {}), key=lambda each: each[0])
    if not placed:
        return []
    steps: list[tuple[int, Step]] = [(at, _step(found, name, known.actions or {})) for at, name in placed]
    steps += _filtered(found)
    steps.sort(key=lambda each: each[0])
    gates = [hit for hit in found.marks("approve", "pause") if not found.is_denied(hit)]
    if not gates:
        return [step for _at, step in steps]
    gate = gates[0].start
    last = next((hit.start for hit in found.marks("last") if hit.start > gate), len(found.text))
    inner = [step for at, step in steps if gate < at < last]
    if found.has("each") and inner:
        inner = [Step(does="each", steps=tuple(inner))]
    before = [step for at, step in steps if at <= gate]
    after = [step for at, step in steps if at >= last]
    return [*before, Step(does="approve", steps=tuple(inner)), *after] if inner else [*before, *after]


def _placed(found: Wish, actions: Mapping[str, ActionShape]) -> list[tuple[int, str]]:
    """For each place where the wish speaks of an action the one that fits best, each action once."""
    best: dict[str, tuple[int, int]] = {}
    for name in actions:
        parts = set(re.split(r"[^a-z]+", name.casefold()))
        hits = [hit for hit in found.hits["actions"] if not found.is_denied(hit) and _fits(hit, parts)]
        if hits:
            best[name] = (len({hit.key for hit in hits}), hits[0].start)
    chosen: dict[int, str] = {}
    for name, (score, at) in sorted(best.items(), key=lambda each: -each[1][0]):
        if at not in chosen and score:
            chosen[at] = name
    return _without_weaker(chosen, best)


def _without_weaker(chosen: dict[int, str], best: Mapping[str, tuple[int, int]]) -> list[tuple[int, str]]:
    """Of actions whose words stand close together the one with more of them."""
    kept: list[tuple[int, str]] = []
    for at, name in sorted(chosen.items()):
        if kept and at - kept[-1][0] < 5 and best[kept[-1][1]][0] != best[name][0]:
            if best[name][0] > best[kept[-1][1]][0]:
                kept[-1] = (at, name)
            continue
        kept.append((at, name))
    return kept


def _fits(hit: Hit, parts: set[str]) -> bool:
    return any(part.startswith(hit.key) or (len(part) > 3 and hit.key.startswith(part)) for part in parts if part)


def _step(found: Wish, name: str, actions: Mapping[str, ActionShape]) -> Step:
    fields: Any = actions[name].arg_schema.get("properties", {})
    params: dict[str, Any] = {}
    quoted = [text for text, _at in found.quoted]
    mail = _mail(found.text)
    for field, schema in fields.items():
        low = field.casefold()
        if "query" in low and quoted:
            params[field] = quoted[0]
        elif mail and ("to" in low or "recipient" in low) and "content" not in low:
            params[field] = mail
        elif "count" in low and schema.get("type") == "integer":
            params[field] = "{{count}}"
        elif low.endswith("type") and schema.get("type") == "string":
            params[field] = name.rpartition(".v")[0].rpartition(".")[2]
    return Step(does="action", action=name, params=params)


def _filtered(found: Wish) -> list[tuple[int, Step]]:
    """A comparison with a number keeps some of the entries."""
    for hit in found.marks("longer", "shorter"):
        number = found.number_after(hit.end)
        if number is not None and number.start - hit.end <= found.reach:
            bound = {"above" if hit.key == "longer" else "below": number.value}
            return [(hit.start, Step(does="filter", **bound))]
    return []


def _mail(text: str) -> str:
    """The first address in a text; "" for none."""
    at = text.find("@")
    start, end = at, at + 1
    while start > 0 and text[start - 1] in _IN_MAIL:
        start -= 1
    while 0 < at < end < len(text) and text[end] in _IN_MAIL:
        end += 1
    return text[start:end].rstrip(".") if 0 <= start < at and end > at + 1 else ""

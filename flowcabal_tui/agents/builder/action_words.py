"""Finds the registry actions that a request names, by the words of their ids, and makes steps of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.wish import BuildRequest
from flowcabal_tui.agents.builder.working_copy import Known
from flowcabal_tui.nodes.validation.scope import ActionShape


def action_steps(found: BuildRequest, known: Known) -> list[Json]:
    """Steps in the order of the wish; the steps behind an approval run only after it."""
    actions = known.actions or {}
    placed = [(at, _step(found, name, actions)) for at, name in _placed(found, actions)]
    for hit, number in found.bounds()[:1] if placed else []:
        placed.append((hit.start, {"does": "filter", "above" if hit.key == "longer" else "below": number.value}))
    placed.sort(key=lambda each: each[0])
    gate = next((hit.start for hit in found.marks("approve", "pause", denied=False)), len(found.text))
    last = next((hit.start for hit in found.marks("last") if hit.start > gate), len(found.text))
    inner = [step for at, step in placed if gate < at < last]
    if found.has("each") and inner:
        inner = [{"does": "each", "steps": inner}]
    gated: list[Json] = [{"does": "approve", "steps": inner}] if inner else []
    return [*(step for at, step in placed if at <= gate), *gated, *(step for at, step in placed if at >= last)]


def _placed(found: BuildRequest, actions: Mapping[str, ActionShape]) -> list[tuple[int, str]]:
    """For each place where the request names an action, the action with most of its words, each action once."""
    scored: list[tuple[int, int, str]] = []
    for name in actions:
        parts = {part for part in re.split(r"[^a-z]+", name.casefold()) if part}
        fitting = [hit for hit in found.hits["actions"] if any(_fits(hit.key, part) for part in parts)]
        hits = [hit for hit in fitting if not found.is_denied(hit)]
        scored += [(-len({hit.key for hit in hits}), hits[0].start, name)] if hits else []
    chosen: list[tuple[int, int, str]] = []
    for score, at, name in sorted(scored):
        if all(other != at and (abs(other - at) >= 5 or score == known) for known, other, _name in chosen):
            chosen.append((score, at, name))
    return sorted((at, name) for _score, at, name in chosen)


def _fits(word: str, part: str) -> bool:
    return part.startswith(word) or (len(part) > 3 and word.startswith(part))


def _step(found: BuildRequest, name: str, actions: Mapping[str, ActionShape]) -> Json:
    """The step of an action with the parameters that the request gives: a quoted query, an address, a number."""
    params: Json = {}
    mail = next((each[0].strip(".") for each in found.found("mail")), "")
    for field, schema in actions[name].arg_schema.get("properties", {}).items():
        low = field.casefold()
        if "query" in low and found.quoted:
            params[field] = found.quoted[0].key
        elif mail and ("to" in low or "recipient" in low) and "content" not in low:
            params[field] = mail
        elif "count" in low and schema.get("type") == "integer":
            params[field] = "{{count}}"
        elif low.endswith("type") and schema.get("type") == "string":
            params[field] = name.rpartition(".v")[0].rpartition(".")[2]
    return {"does": "action", "action": name, "params": params}

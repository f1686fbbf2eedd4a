"""Finds the registry actions that a request names, by the words of their ids, and makes steps of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.request_words import BuildRequest, WordHit
from flowcabal_tui.agents.builder.working_copy import Known
from flowcabal_tui.nodes.validation.scope import ActionShape


def action_steps(found: BuildRequest, known: Known) -> list[Json]:
    """Steps in the order of the wish.

    Where the writer wants to approve anything, actions that change something run only after it: those that the same
    sentence names, otherwise all, and every later one. An action "at the end" is exempt if another one is covered.
    """
    actions = known.actions or {}
    named = {name: _named(found, name) for name in actions}
    placed = [(at, _step(found, name, actions)) for at, name in _placed(named)]
    for hit, number in found.bounds()[:1] if placed else []:
        placed.append((hit.start, {"does": "filter", "above" if hit.key == "longer" else "below": number.value}))
    placed.sort(key=lambda each: each[0])
    reading = {*found.tables["reading"]}
    changing = {at: step["action"] for at, step in placed if reading.isdisjoint(_parts(step.get("action", "read")))}
    for mark in found.marks("each")[:1] if changing else []:
        near = min(changing, key=lambda at: (at not in found.sentence[mark.start], abs(at - mark.start)))
        placed = [(at, {"does": "each", "steps": [step]} if at == near else step) for at, step in placed]
    gates = found.marks("approve", "pause", "edit", denied=False) or (found.unsaid if changing else [])
    begin, parts = len(found.text), {found.sentence[gate.start] for gate in gates}
    for place in parts:
        own = [at for at, name in changing.items() if any(hit.start in place for hit in named[name])]
        after = [at for at, _each in placed if at > place.start and not changing]
        begin = min([begin, *(own or changing or after)])
    lasts = [] if any(found.found("all")) else [mark.start for mark in found.marks("last")]
    apart = [last for last in lasts if found.sentence[last] not in parts and any(begin <= at < last for at in changing)]
    end = min([len(found.text), *apart])
    ahead = [step for at, step in placed if at < begin]
    gated: list[Json] = [{"does": "approve", "steps": [step for at, step in placed if begin <= at < end]}]
    return [*ahead, *(gated if gates and placed else []), *(step for at, step in placed if at >= max(begin, end))]


def _parts(name: str) -> set[str]:
    return {part for part in re.split(r"[^a-z]+", re.sub("(?<=[a-z])([A-Z])", r" \1", name).casefold()) if part}


def _named(found: BuildRequest, name: str) -> list[WordHit]:
    """The words of the request for an action: those of the vocabulary that occur in its id, and the id's own."""
    parts, listed = _parts(name), found.hits["actions"]
    own = (part for part in parts if len(part) > 3 and part not in found.tables["generic"])
    hits = [hit for hit in listed if any(part.startswith(hit.key) for part in parts)] + found.named(own)
    meant = sorted((hit for hit in hits if hit.start not in found.denied), key=lambda hit: hit.start)
    heading = max((each.end() for each in found.found("heading")), default=0)
    return [hit for hit in meant if hit.start >= heading] or meant


def _placed(named: Mapping[str, list[WordHit]]) -> list[tuple[int, str]]:
    """For each place where the request names an action, the action with most of its words, each action once."""
    scored = [(-len({hit.key for hit in hits}), hits[0].start, name) for name, hits in named.items() if hits]
    chosen: list[tuple[int, int, str]] = []
    for score, at, name in sorted(scored):
        if all(other != at and (abs(other - at) >= 5 or score == known) for known, other, _name in chosen):
            chosen.append((score, at, name))
    return sorted((at, name) for _score, at, name in chosen)


def _step(found: BuildRequest, name: str, actions: Mapping[str, ActionShape]) -> Json:
    """The step of an action with the parameters that the request gives: a quoted query, an address, a number."""
    quoted, mails = [each.key for each in found.quoted], [each[0].strip(".") for each in found.found("mail")]
    kind, fields = name.rpartition(".v")[0].rpartition(".")[2], actions[name].arg_schema.get("properties", {})
    values = {"query": quoted, "to": mails, "recipient": mails, "count": ["{{count}}"], "type": [kind]}
    given = {field: [value for word in values if word in _parts(field) for value in values[word]] for field in fields}
    return {"does": "action", "action": name, "params": {field: each[0] for field, each in given.items() if each}}

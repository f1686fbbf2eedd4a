"""Fills the form from a request with a vocabulary. Anything that the form cannot express is reported, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from flowcabal_tui.agents.builder.document import Json, PlacedNode, all_found, names_in, own_params
from flowcabal_tui.agents.builder.forms import Alteration, Form
from flowcabal_tui.agents.builder.request_words import BuildRequest, WordHit, beside, places
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.nodes.validation.scope import ActionShape

Nodes = Mapping[str, PlacedNode]
"""The nodes of the workflow by path. The key of a mention is a path."""


def alterations_of(found: BuildRequest, copied: WorkingCopy) -> tuple[Alteration, ...]:
    """The requested alterations; () when the request names none that can be identified."""
    nodes = {each.path: each for each in all_found(copied.document)}
    mentions = sorted((hit for each in nodes.values() for hit in _mentions(found, each)), key=lambda hit: hit.start)
    readings = (_replaced, _values, _removed, _inserted, _settings, _paused)
    made = filter(None, ([*reading(found, nodes, mentions)] for reading in readings))
    return tuple(map(Alteration.model_validate, next(made, [])))


def _mentions(found: BuildRequest, place: PlacedNode) -> list[WordHit]:
    """Finds a node by id or name, by the word of the step that it is named after, or by the longer words of its name.

    A Chinese name may contain the word of a step anywhere.
    """
    called = [str(place.node.get(key) or "").casefold() for key in ("id", "name")]
    parts = [word for word in called[1].split() if len(word) > 4 and word.isascii()]
    for key, words in found.tables["steps"].items():
        is_after = any(w == name or (w in name and not w.isascii()) for w in (key, *words) for name in called)
        parts += words if is_after and key != "none" else []
    return [hit._replace(key=place.path) for hit in found.named(called) or found.named(parts)]


def _replaced(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Replaces words of a prompt, given as two quotations; the prompt is that of the named node if it contains them."""
    order = [*(each.key for each in mentions), *nodes]
    for old, new in pairwise([each.key for each in found.quoted] if found.has("to") else ()):
        having = [path for path in order if old in str(own_params(nodes[path].node))]
        yield from ({"change": "replace", "node": path, "find": old, "to": new} for path in having[:1])


def _values(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Sets the first model that the request names for a node that has another one, the temperature of a node, or both;
    then the pause that the request asks for as well."""
    wanted = [(_near(found, mentions, hit.start), hit.key) for hit in found.models if mentions]
    made = [_set(path, "model", to) for path, to in wanted if nodes[path].node.get("params", {}).get("model") != to][:1]
    for hit in found.marks("temperature")[:1] if found.temperature is not None and mentions else []:
        made.append(_set(_near(found, mentions, hit.start), "temperature", found.temperature))
    yield from [*made, *_paused(found, nodes, mentions)] if made else []


def _removed(found: BuildRequest, _nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Removes a named node, unless the request first names a new step."""
    for first in found.marks("remove", "insert", denied=False)[:1] if mentions else []:
        yield from [{"change": "remove", "node": _near(found, mentions, first.start)}] if first.key == "remove" else []


def _inserted(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Inserts a step between two nodes, after one, before one, or only for texts of a given length."""
    about, taken, order = next(iter(found.abouts()), ""), {each.start for each in mentions}, [*nodes]
    there = {hit.key for hit in found.verbs if hit.start in taken}
    verb = next((hit.key for hit in found.verbs if hit.key not in there), "check" if about else "")
    change = {"change": "insert", "step": {"does": verb, "about": about if verb == "check" else ""}}
    ends = sorted(list(dict.fromkeys(each.key for each in mentions))[:2], key=order.index)
    if verb and mentions and (bounds := found.bounds(100)):
        hit, number = bounds[0]
        yield {**change, "node": mentions[0].key, "when": f"{hit.key}_than", "length": int(number.value)}
    elif verb and mentions and found.has("insert"):
        ends = ["", *ends] if len(ends) == 1 and any(map(found.is_later, mentions)) else ends
        yield {**change, "node": ends[0], "before": "".join(ends[1:])}


def _near(found: BuildRequest, mentions: Sequence[WordHit], at: int) -> str:
    """The node that the words at a place refer to: one named in their clause, else the last one named before them."""
    clause = found.clause[at]
    return min(mentions, key=lambda each: (each.start not in clause, each.start > at, abs(each.start - at))).key


def _set(path: str, field: str, to: object) -> Json:
    return {"change": "set", "node": path, "field": field, "to": to}


def _settings(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Sets numbers and switches of the named node, or of the only one that has such a setting."""
    for path in [path for path in nodes if not mentions or path in {each.key for each in mentions}]:
        field, now = found.tables["settings"].get(nodes[path].node.get("kind")), own_params(nodes[path].node)
        new = [(field, int(each.value)) for each in found.numbers if field and each.value != now.get(field)][:1]
        new += [("blind", True)] if field == "candidates" and found.has("blind") else []
        yield from (_set(path, *each) for each in new)


def _paused(found: BuildRequest, nodes: Nodes, mentions: Sequence[WordHit]) -> Iterator[Json]:
    """Removes the pause for the writer after a node, or adds one before or after a node."""
    ids, clauses = [each.node["id"] for each in nodes.values()], found.clauses_of(mentions)
    waiting = [each for each in mentions if own_params(nodes[each.key].node).get("review") == "always"]
    ends = found.marks("never")[:1] if waiting else []
    yield from (_set(_near(found, waiting, hit.start), "review", "never") for hit in ends)
    marks = sorted(found.marks("pause", "edit", "approve"), key=lambda mark: found.clause[mark.start] not in clauses)
    for pause in marks[:1] if mentions and not ends else []:
        later = [each.key for each in mentions if found.is_later(each)]
        ahead = [each.key for each in mentions if each.start < pause.start] or [each.key for each in mentions]
        is_before = later and names_in(own_params(nodes[later[0]].node), ids)
        yield {"change": "pause", **({"before": later[0]} if is_before else {"node": ahead[-1]})}


def action_steps(found: BuildRequest, known: Known) -> list[Json]:
    """Steps in the order of the request.

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


Steps = list[Json]
"""Steps of the form; "at" is the place of their word in the request."""


def form_of(wish: str, copied: WorkingCopy, language: str) -> Form:
    """The form as far as the vocabulary fills it, with the parts of the request that it does not understand in
    `unread`.

    If they are most of the request, nothing else is filled.
    """
    found, known = BuildRequest(wish, language, copied.known.models or ()), copied.known
    form = Form.model_validate({"wish": wish, **_filled(found, copied, language)})
    nodes = [str(each.node.get(key, "")) for each in all_found(copied.document) for key in ("id", "name")]
    names = [form.name, *nodes, *(known.models or ()), *(known.callable_flows or ())]
    sizes, text = [len(step.steps) for step in form.steps], form.model_dump_json(exclude={"wish"}, exclude_unset=True)
    made = "changed" if form.alterations else "acted" if '"action":' in text else "shown" if form.steps else "nothing"
    unread = tuple(found.unread(names, f"{text} {sizes} {copied.base or ''}", made))
    is_lost = sum(map(len, unread)) > found.tables["most_unread"] * len(found.text)
    return form.model_copy(update={"unread": unread, **({"steps": (), "alterations": ()} if is_lost else {})})


def _filled(found: BuildRequest, copied: WorkingCopy, language: str) -> Json:
    if missing := _outside(found, copied):
        return {"missing": missing}
    each = found.has("each_pause") and found.has("pause", "approve")
    if found.has("never") and each:
        return {"pause": ("none", "each")}
    if copied.base is not None:
        return {"alterations": alterations_of(found, copied)}
    acts = action_steps(found, copied.known)
    steps = acts or _writing(found, copied)
    alone = not _without(steps[:1], *found.tables["alone"]) and not any(map(_writes, steps[1:]))
    kept = [hit.key for hit in found.hits["keep"] if hit.start not in found.denied and not acts]
    names = [*(each[1] for each in found.found("title")), *(each.key for each in found.quoted if language == "en"), ""]
    existing = bool(steps) and not acts and not any(step["does"] == "plan" or _writes(step) for step in steps)
    filled = {"steps": steps, "existing": existing, "name": names[0], "pause": ["each"] if each else []}
    mode = "append" if found.marks("append", denied=False) else "replace"
    return {**filled, "keep": [*kept, "note" if acts or alone else "chapter"][0], "mode": mode}


def _outside(found: BuildRequest, copied: WorkingCopy) -> tuple[str, ...]:
    """Parts of the request that nothing here can do: no step, registered action, workflow or model matches."""
    names, actions = copied.known, copied.known.actions or {}
    described = (getattr(shape, "description", "") for shape in actions.values())
    known = " ".join((*actions, *described, *(names.callable_flows or ()), *(names.models or ()))).casefold()
    other = found.denied | places((*found.quoted, *(act for act in found.hits["actions"] if act.key in known)))
    words = [found.text[hit.start : hit.end] for hit in found.hits["outside"] if other.isdisjoint(places([hit]))]
    return tuple(dict.fromkeys(word for word in words if word.casefold() not in known))


def _writing(found: BuildRequest, copied: WorkingCopy) -> Steps:
    """The steps of a workflow that writes, in the order of their words."""
    called, ways, steps = _called(found, copied), _ways(found), _verbs(found)
    for shape in () if ways else (_eyes, _candidates, _readers, _rounds, _each, _measured):
        steps = shape(found, steps)
    steps = [*_of(steps, "plan"), *ways, *_without(steps, "plan", "write")] if ways else steps
    later = [step for step in _of(steps, *found.tables["on_texts"]) if called and step["at"] > called[-1]["at"]]
    steps = [*_of(steps, "plan", "write", "candidates"), *called, *later] if called else steps
    for mark in found.marks("count", "remember")[:1]:
        named = min((each for each in found.quoted if each.key.isidentifier()), key=mark.gap, default=mark)
        steps.append({"at": len(found.text), "does": mark.key, "key": named.key})
    before, behind = _of(steps, "plan", "ideas", "openings"), _without(steps, "plan", "ideas", "openings")
    is_outline = not _without(steps, "plan") and any(hit.key == "outline" for hit in found.hits["keep"])
    is_given = (found.has("existing") and not before) or not _without(steps, *found.tables["alone"])
    if not (is_outline or is_given or any(map(_writes, behind))):
        steps = [*before, {"at": -1, "does": "write"}, *behind]
    _pause(found, steps)
    for model in found.models if steps else ():
        near = min(steps, key=lambda step: (step["at"] not in found.clause[model.start], abs(step["at"] - model.start)))
        near["model"] = model.key
    for step in [*_of(steps, "write", "candidates"), *steps][:1] if found.temperature is not None else []:
        step["temperature"] = min(2.0, found.temperature or 0)
    return [{key: value for key, value in step.items() if key != "at"} for step in steps]


def _of(steps: Steps, *names: str) -> Steps:
    """The steps with one of these verbs or ids."""
    return [step for step in steps if not {step["does"], step.get("id")}.isdisjoint(names)]


def _without(steps: Steps, *names: str) -> Steps:
    return [step for step in steps if step not in _of(steps, *names)]


def _verbs(found: BuildRequest) -> Steps:
    """One step for each verb, at its first word; a step that writes a text precedes those applied to it."""
    first = {hit.key: hit for hit in reversed(found.verbs)}
    placed = sorted(first.values(), key=lambda hit: (hit.key != "plan", hit.key != "write", hit.start))
    own = {hit: found.words(found.clause[hit.start]) for hit in placed if hit.key in found.tables["own"]}
    return [{"at": hit.start, "does": hit.key, "text": own.get(hit, "")} for hit in placed]


def _writes(step: Json) -> bool:
    return step["does"] in ("write", "candidates", "choose") or any(map(_writes, step.get("steps", ())))


def _candidates(found: BuildRequest, steps: Steps) -> Steps:
    """Several texts of which the writer picks one: whole ones, openings to continue, or ideas."""
    numbers, kinds = found.numbers_by("number", 2, 12), ("opening", "ending", "title")
    counted = [hit for hit in found.marks(*kinds) if any(hit.gap(n) <= found.reach for n in beside(numbers, hit.start))]
    ideas = {} if counted else dict(found.picked())
    marks = [*ideas] or found.marks("candidates") or counted
    if _of(steps, "together") or not (marks := marks or (found.marks("pick", "choose") if numbers else [])):
        return steps
    kind = "idea" if ideas else next(filter(found.has, kinds), "write")
    texts = {key: text.format(thing=ideas.get(marks[0])) for key, text in found.phrases["several"][kind].items()}
    number = [int(each.value) for each in sorted((*ideas, *numbers), key=marks[0].gap)] or [5]
    candidates = {"at": marks[0].start, "does": "candidates", "blind": found.has("blind"), "number": number[0], **texts}
    plans, written, rest = _of(steps, "plan"), _of(steps, "write"), _without(steps, "plan", "write")
    # A plan after ideas reads the one that was picked.
    ahead = sorted([*plans, candidates], key=lambda step: step["at"]) if ideas else [*plans, candidates]
    if kind == "ending":
        return [*plans, *written, candidates, *rest]
    return [*ahead, *(written if kind != "write" else []), *rest]


def _readers(found: BuildRequest, steps: Steps) -> Steps:
    """Checks with their subjects; several run in parallel, and a later step works on their results."""
    abouts, checks, people = found.abouts(), _of(steps, "check"), found.numbers_by("people", 2, 8)
    if not checks and not (people and (abouts or found.critics)):
        return steps
    at = checks[0]["at"] if checks else people[0].start
    made: Steps = [{"does": "check", "about": each} for each in abouts] or [{"does": "check"}]
    number = next((int(n.value) for n in people if n in found.critics or n.start in found.clause[at]), 1)
    who = [" ".join(filter(None, match.groups())).strip() for match in found.found("person")]
    if 1 < number == len(who) != len(abouts):
        made = [{"does": "check", "name": each, "text": found.phrases["person"].format(who=each)} for each in who]
    elif len(made) == 1:
        made *= number
    check = made[0] if len(made) == 1 else {"does": "together", "steps": made}
    later = _of(steps, "revise", "polish") or [{"at": at + 1, "does": "revise"}]
    rest = _without(steps, "check", "revise", "polish")
    ahead = [step for step in rest if step["at"] < at or step["does"] not in found.tables["on_texts"]]
    behind = [step for step in (*rest, *later) if step not in ahead]
    return [*ahead, {"at": at, **check}, *sorted(behind, key=lambda step: step["at"])]


def _eyes(found: BuildRequest, steps: Steps) -> Steps:
    """One version for each point of view, in parallel, then merged into one."""
    matches = [match for pattern in found.tables["eyes"] for match in re.finditer(pattern, found.text)]
    names = list(dict.fromkeys(name for match in matches for name in match.groups() if name and found.has("eyes")))
    if len(names) < 2:
        return [{**step, "point_of_view": names[0]} if names and step["does"] == "write" else step for step in steps]
    tellings = [{"does": "write", "id": name, "name": name, "point_of_view": name} for name in names]
    weave = {"at": 1, "does": "improve" if found.has("improve") else "do", "text": found.phrases["weave"]}
    rest = _without(steps, "plan", "write", "revise")
    return [*_of(steps, "plan"), {"at": 0, "does": "together", "steps": tellings}, weave, *rest]


def _rounds(found: BuildRequest, steps: Steps) -> Steps:
    """Merges a critic or rounds of revision into one step."""
    taken = {step["number"] for step in _of(steps, "candidates")}
    rounds = next((int(each.value) for each in found.numbers_by("rounds", 1, 10) if each.value not in taken), 0)
    is_wanted = found.has("improve") or (rounds > 1 and _of(steps, "revise", "polish"))
    if not is_wanted or (rounds < 2 and found.critics):
        return steps
    rest = _without(steps, "revise", "check", "improve")
    at = next((n for n, step in enumerate(rest) if step["does"] in ("polish", "cut", "expand")), len(rest))
    improve = {"does": "improve", **next(iter(_of(steps, "improve")), {}), "rounds": rounds or 3}
    return [*rest[:at], {**improve, "at": rest[at - 1]["at"] + 1 if at else 0}, *rest[at:]]


def _each(found: BuildRequest, steps: Steps) -> Steps:
    """Makes the writing iterate over the lines of the plan."""
    loops = found.marks("each", denied=False) or found.numbers_by("at_once", 2, 64)
    if not loops or _of(steps, "together", "candidates") or (found.has("existing") and not _of(steps, "plan", "write")):
        return steps
    limits, sides = [each for each in found.numbers if 1 < each.value <= 64], found.marks("side")
    at_once = min(limits, key=lambda each: abs(each.start - sides[-1].end)) if sides and limits else None
    most = next((int(each.value) for each in reversed(limits) if each is not at_once), None)
    scene = [{"does": "write", "id": "scene", "pause": found.has("pause", "approve") and found.has("next")}]
    loop = {"at": loops[0].start, "does": "each", "most": most, "steps": scene}
    loop["at_once"] = int(at_once.value) if at_once else 4 if sides else 1
    return [*(_of(steps, "plan") or [{"at": -1, "does": "plan"}]), loop, *_without(steps, "plan", "write")]


def _measured(found: BuildRequest, steps: Steps) -> Steps:
    """Makes a branch of a length in the request: the verb after it, and the one after "otherwise"."""
    verbs = [each for each in found.verbs if each.key in found.tables["on_texts"]]
    for hit, number in found.bounds(200)[:1]:
        then = next((each for each in verbs if each.start > max(number.end, hit.end)), hit)
        ends = [each.start for each in found.marks("otherwise", "longer", "shorter") if each.start > then.start]
        others = [each.key for each in verbs if ends and each.start > ends[0] and each.key != then.key][:1]
        sides = {"then": [{"does": then.key}], "otherwise": [{"does": other} for other in others]}
        measure = {"at": hit.start, "does": "measure", f"{hit.key}_than": int(number.value), **sides}
        return [*_without(steps, then.key, *others), measure] if then != hit else steps
    return steps


def _ways(found: BuildRequest) -> Steps:
    """The choice between quotations beside each other, if the writer is to choose: branches, each with its own text."""
    marks, pairs = found.marks("choose", "pause", "candidates"), pairwise(found.quoted)
    near = [each.key for pair in pairs if pair[0].gap(pair[1]) <= found.tables["between"] for each in pair]
    ways = [{"label": way, "steps": [{"does": "write", "name": way, "text": way}]} for way in dict.fromkeys(near)][:8]
    return [{"at": mark.start, "does": "choose", "choices": ways} for mark in marks[:1] if ways[1:]]


def _called(found: BuildRequest, copied: WorkingCopy) -> Steps:
    """Workflows that the request names. One called "chapter" is meant only if the request mentions workflows."""
    flows = {flow.partition("@")[0]: flow for flow in sorted(copied.known.callable_flows or ())}
    named = found.named(name for name in flows if found.has("flow") or not name.isalpha())
    return list({hit.key: {"at": hit.start, "does": "workflow", "workflow": flows[hit.key]} for hit in named}.values())


def _pause(found: BuildRequest, steps: Steps) -> None:
    """Marks the steps that the writer must approve.

    A pause belongs to its object, or to the plan if that was named last or in the clause, else to the step whose word
    comes last before it, and with "before the polish" to the step ahead of that.
    """
    planned = found.clauses_of(hit for hit in found.hits["steps"] if hit.key == "plan")
    nexts = found.marks("next") if _of(steps, "each") else []
    for mark in found.marks("pause", "edit", "approve", denied=False) if steps else []:
        around = beside(found.hits["steps"], mark.start)
        objects = [hit.key for hit in around if found.folded[mark.end : hit.start].strip() in found.tables["articles"]]
        if found.clause[mark.start] in planned or any(h.key == "plan" and h.start < mark.start for h in around):
            objects = objects or ["plan"]
        owner = [*steps[:1], *(step for step in steps if step["at"] <= mark.start), *_of(steps, *objects)][-1]
        if any(hit.key == owner["does"] and found.is_later(hit) for hit in around):
            owner = steps[max(steps.index(owner) - 1, 0)]
        is_inside = any(mark.gap(hit) <= found.reach * 2 for hit in beside(nexts, mark.start))
        if not is_inside and owner["does"] not in found.tables["pausing"]:
            owner["pause"] = True

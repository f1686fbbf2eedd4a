"""The user's words for builds: states, changes with both sides of their difference, rounds, prices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from flowcabal_tui.domain.builds import BuildState
from flowcabal_tui.domain.text import FACTS_APART, clean_line
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import beside, cost_words, money, price_lines, total_words

if TYPE_CHECKING:
    from flowcabal_tui.agents.builder.changes import Change, ChangeKind
    from flowcabal_tui.domain.run import Spend
    from flowcabal_tui.project.builder.prices import BuildPrice
    from flowcabal_tui.project.builder.records import BuildRecord

STATES: Final[Mapping[BuildState, str]] = {
    "building": mark("is being built"),
    "interrupted": mark("interrupted"),
    "asks": mark("asks you"),
    "finished": mark("waits for you"),
    "stopped": mark("stopped"),
    "accepted": mark("accepted"),
    "rejected": mark("rejected"),
}
SIGNS: Final[Mapping[ChangeKind, str]] = {
    "node_added": "+", "edge_added": "+", "node_removed": "-", "edge_removed": "-",
    "renamed": "~", "param": "~", "prompt": "~", "wiring": "~", "meta": "~",
}  # fmt: skip
_KINDS: Final[Mapping[ChangeKind, str]] = {
    "node_added": mark("new node {node}"),
    "node_removed": mark("remove node {node}"),
    "renamed": mark("{node}: another name"),
    "param": mark("{node}: {field}"),
    "prompt": mark("{node}: prompt ({field})"),
    "wiring": mark("{node} reads another output ({field})"),
    "edge_added": mark("new edge {edge}"),
    "edge_removed": mark("remove edge {edge}"),
    "meta": mark("the workflow: {field}"),
}
_META: Final = {
    "id": mark("its id"), "name": mark("its name"), "description": mark("its description"),
    "keep": mark("what it is kept as"), "inputs": mark("its inputs"), "language": mark("the language of its prompts"),
}  # fmt: skip
_SHOWN: Final = 300
"""Characters of the text that was sent to the model."""
EDITABLE: Final = ("node_added", "renamed", "param", "prompt", "wiring", "meta")


def change_words(change: Change) -> str:
    """A change in short."""
    edge = change.after or change.before
    ends = f"{edge['source']} → {edge['target']}" if change.kind.startswith("edge") else ""
    whole = change.after or change.before
    named = change.kind in ("node_added", "node_removed") and isinstance(whole, dict) and whole.get("name")
    node = beside(clean_line(str(named)), change.node) if named and named != change.node else change.node
    field = _(_META[change.field]) if change.kind == "meta" and change.field in _META else change.field
    return _(_KINDS[change.kind]).format(node=node, field=field, edge=ends)


def sides(change: Change) -> tuple[str, str]:
    """The present and the proposed value, as texts to compare; "" for nothing."""
    return side_text(change.before), side_text(change.after)


def side_text(value: Any) -> str:
    """A value of a document in readable form: blocks as text, all else as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(each, dict) and "kind" in each for each in value):
        return "\n".join(_block_text(each) for each in value)
    if isinstance(value, dict) and "kind" in value and isinstance(value.get("params"), dict):
        return "\n".join(_node_lines(value))
    return json.dumps(value, ensure_ascii=False, indent=2)


def _block_text(block: Mapping[str, Any]) -> str:
    if block.get("kind") == "virtual":
        return _("[output of {node}]").format(node=block.get("node"))
    return str(block.get("text", block.get("question", "")))


def _node_lines(node: Mapping[str, Any]) -> Iterator[str]:
    yield FACTS_APART.join(str(each) for each in (node.get("name") or node["id"], node["id"], node["kind"]))
    for field, value in node["params"].items():
        if value not in (None, "", [], {}):
            words = side_text(value)
            yield f"{field}: {words}" if "\n" not in words else f"{field}:\n{words}"


def rows_of(record: BuildRecord) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """The changes in groups: under the point of the checklist that they serve, without one, about the workflow."""
    nodes = [each for each in record.changes if each.kind != "meta"]
    known = [name for name, _what in record.items]
    groups = [(what, [each for each in nodes if each.because == name]) for name, what in record.items]
    groups.append((_("Other changes"), [each for each in nodes if each.because not in known]))
    groups.append((_("About the workflow"), [each for each in record.changes if each.kind == "meta"]))
    yield from ((what, tuple(changes)) for what, changes in groups if changes)


def reason_words(record: BuildRecord, change: Change) -> str:
    """The reason for a change, its requirements, and the pause for the writer that it would remove."""
    what = dict(record.items).get(change.because, "")
    lines = [_("For: {what}").format(what=what)] if what else []
    if change.loses_gate:
        lines.append(_("You would no longer be asked at this point."))
    taken, _fallen = record.taken
    known = {each.id: each for each in record.changes}
    missing = [change_words(known[name]) for name in sorted(change.needs) if name not in taken]
    if missing:
        lines.append(_("Left out, because it needs: {changes}").format(changes=_(", ").join(missing)))
    elif change.needs:
        needed = _(", ").join(change_words(known[name]) for name in sorted(change.needs))
        lines.append(_("It needs: {changes}").format(changes=needed))
    return "\n".join(lines)


def fate_words(record: BuildRecord) -> str:
    """The number of changes that would be accepted, and of ticked ones that depend on an unticked one."""
    taken, fallen = record.taken
    falls = [each for each in fallen if any(change.id == each and change.ticked for change in record.changes)]
    count = len(record.changes)
    words = ngettext("{n} of {all} change is accepted", "{n} of {all} changes are accepted", len(taken))
    words = words.format(n=len(taken), all=count)
    if falls:
        more = ngettext(
            "{n} is left out: it needs a rejected change", "{n} are left out: they need a rejected change", len(falls)
        )
        words += FACTS_APART + more.format(n=len(falls))
    return FACTS_APART.join((words, *_kept_words(record)))


def _kept_words(record: BuildRecord) -> Iterator[str]:
    """Notes on a text that would be kept instead, and on texts that no node reads since their readers were rejected."""
    from flowcabal_tui.agents.builder.checks import last_texts  # the Builder that made the record is loaded anyway

    after = record.after
    names = {node["id"]: clean_line(str(node.get("name") or node["id"])) for node in after["nodes"]}
    whole, left = last_texts(record.document), last_texts(after)
    *unread, kept = left or ("",)
    if kept and kept not in whole[-1:]:
        yield _("kept afterwards: the text of {name}").format(name=names[kept])
    if new := [names[each] for each in unread if each not in whole]:
        yield _("read by no node afterwards: {names}").format(names=_(", ").join(new))


def way_words(price: BuildPrice) -> str:
    """The likely cost of a build by the model; the name of the model last, since it may be too long for a row."""
    cost = cost_words(price.likely.cost, price.currency)
    return _("the agents' model: likely {cost}; {model}").format(cost=cost, model=price.model)


def build_price_lines(price: BuildPrice) -> list[str]:
    """The lines with a price that precede every paid action."""
    return price_lines(price.model, _spend(price.likely, price.currency), _spend(price.most, price.currency))


def _spend(spend: Spend, currency: str) -> str:
    return total_words(spend.calls, spend.tokens, spend.cost, currency)


def round_lines(record: BuildRecord) -> Iterator[str]:
    """The rounds of a build: the model's text, its calls, refusals, and the tokens."""
    for number, each in enumerate(record.rounds, 1):
        tokens = (each.get("input_tokens") or 0) + (each.get("output_tokens") or 0)
        head = _("round {n}   {tokens} tokens").format(n=number, tokens=f"{tokens:,}")
        yield f"{head}{FACTS_APART}{money(Decimal(each['cost']), record.currency)}" if each.get("cost") else head
        if each.get("request"):
            yield f"  > {clean_line(each['request'])[:_SHOWN]}"
        if each.get("text"):
            yield f"  {each['text']}"
        for call in each.get("calls", ()):
            yield f"  {'✗' if call['refused'] else '✓'} {call['tool']} {call['arguments']}"
            if call["refused"]:
                yield f"    {call['answer']}"
        if each.get("covered"):
            yield "  " + _("covered so far: {points}").format(points=_(", ").join(each["covered"]))
        if each.get("failed"):
            yield f"  ! {each['failed']}"
    if not record.rounds:
        yield _("No call was made: the form was filled by rule.")
    yield spent_words(record)


def spent_words(record: BuildRecord) -> str:
    """The rounds and tokens of a build so far."""
    rounds = len(record.rounds)
    words = ngettext("{n} round, {tokens} tokens", "{n} rounds, {tokens} tokens", rounds)
    return words.format(n=rounds, tokens=f"{record.tokens:,}")

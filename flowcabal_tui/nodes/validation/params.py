"""One node by itself: its kind, its parameters field by field, its prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from flowcabal_tui.domain.errors import available
from flowcabal_tui.domain.paths import RESULT, Part, shown
from flowcabal_tui.domain.prompt_text import bindings, node_of
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.schemas import check_path
from flowcabal_tui.domain.workflow import Block, InquiryBlock, Node, Problem, TextBlock, VirtualBlock
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.nodes.kinds.bodies import root_of
from flowcabal_tui.nodes.nearest import nearest
from flowcabal_tui.nodes.registry import kind_named, kinds
from flowcabal_tui.nodes.validation.scope import ActionShape, CheckedNode, GraphScope

_MOST_ERRORS = 20


def read_node(
    node: Node, path: str, actions: Mapping[str, ActionShape] | None
) -> tuple[CheckedNode, tuple[Problem, ...]]:
    """A node with kind and parameters, with the findings that prevent reading them."""
    kind = kind_named(node.kind)
    if kind is None:
        message = _("There is no kind {kind}. Available: {names}").format(
            kind=node.kind[:60] or '""', names=_(", ").join(sorted(kinds()))
        )
        fix = nearest(node.kind, tuple(kinds()))
        return CheckedNode(node, path), (
            Problem(code="UNKNOWN_KIND", node=path, field="kind", message=message, fix=fix),
        )
    try:
        params = kind.params.model_validate(node.params)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[:_MOST_ERRORS]
        return CheckedNode(node, path, kind), tuple(_bad(path, node.params, kind.params, one) for one in wrong)
    action = actions.get(str(getattr(params, "action", ""))) if actions and kind.name == "action" else None
    return CheckedNode(node, path, kind, params, action), ()


def _bad(path: str, raw: Mapping[str, Any], model: type[BaseModel], error: Any) -> Problem:
    place = place_of(raw, error["loc"])
    message, fix = refusal(error), ""
    if error["type"] == "missing":
        message = _("{name} is missing.").format(name=place)
    elif error["type"] == "extra_forbidden":
        message = _("{name} has no meaning here.").format(name=place)
        if len(error["loc"]) == 1:
            known = sorted(model.model_fields)
            fix = nearest(place, known)
            message = sentences(message, available(known))
    return Problem(code="BAD_PARAMS", node=path, field=place, message=message, fix=fix)


def place_of(raw: Any, loc: Sequence[Part]) -> str:
    """The place of a validation error, without the tags that pydantic adds for choices such as kinds of block."""
    parts: list[Part] = []
    value = raw
    for number, part in enumerate(loc):
        listed = isinstance(value, (list, tuple)) and isinstance(part, int) and part < len(value)
        if listed or (isinstance(value, Mapping) and part in value):
            value = value[part]
        elif number < len(loc) - 1:
            continue
        parts.append(part)
    return shown(parts)


def placed_blocks(read: CheckedNode) -> Iterator[tuple[str, Block]]:
    """Every prompt block of a node with its field."""
    if read.kind is None or read.params is None:
        return
    places = {id(block): place for place, block in _blocks_in(read.params, "")}
    texts = {value: name for name, value in read.params if isinstance(value, str)}
    for block in read.kind.blocks(read.params):
        fallback = texts.get(block.text, "") if isinstance(block, TextBlock) else ""
        yield places.get(id(block), fallback), block


def _blocks_in(value: Any, place: str) -> Iterator[tuple[str, Block]]:
    if isinstance(value, (TextBlock, VirtualBlock, InquiryBlock)):
        yield place, value
    elif isinstance(value, BaseModel):
        for name, part in value:
            yield from _blocks_in(part, f"{place}.{name}" if place else name)
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            yield from _blocks_in(part, f"{place}[{number}]")


def check_prompts(read: CheckedNode, scope: GraphScope) -> Iterator[Problem]:
    """References in prompts that cannot be resolved, and empty prompts."""
    for place, block in placed_blocks(read):
        if isinstance(block, VirtualBlock):
            yield from _virtual(read.path, place, block, scope)
        elif isinstance(block, TextBlock):
            for path in dict.fromkeys(bindings(block.text)):
                yield from _named(read.path, f"{place}.text" if "[" in place else place, path, scope)
        elif not block.question.strip():
            message = _("The question to the Context agent is empty.")
            yield Problem(code="EMPTY_INQUIRY", node=read.path, field=place, message=message, severity="warning")
    prompt = getattr(read.params, "prompt", None)
    if isinstance(prompt, tuple) and not any(not isinstance(one, TextBlock) or one.text.strip() for one in prompt):
        yield Problem(code="EMPTY_PROMPT", node=read.path, field="prompt", message=_("The prompt is empty."))


def _virtual(node: str, place: str, block: VirtualBlock, scope: GraphScope) -> Iterator[Problem]:
    if block.node not in scope.schemas:
        yield missing(node, f"{place}.node", block.node, scope)
    if block.frozen == "":
        message = _("The frozen text of {node} is empty.").format(node=block.node)
        yield Problem(code="EMPTY_FROZEN", node=node, field=f"{place}.frozen", message=message, severity="warning")


def _named(node: str, place: str, path: str, scope: GraphScope) -> Iterator[Problem]:
    if node_of(path) in scope.schemas:
        return  # every node has a text, whatever its schema
    root = root_of(path)
    found = check_path(path, scope.schemas, roots=scope.roots, field=place)
    if found is None:
        return
    if root == RESULT:
        name = (node_of(path) or "").partition(".")[0]
        if name in scope.schemas:
            yield found.model_copy(update={"node": node})
            return
        lost = missing(node, place, name, scope)
        fix = path.replace(f"{RESULT}.{name}", f"{RESULT}.{lost.fix}", 1) if lost.fix else ""
        yield lost.model_copy(update={"fix": fix})
    else:
        names = _(", ").join((*scope.roots, "result_of.NODE.text"))
        message = _("The prompt refers to {path}. Available: {names}").format(path=path, names=names)
        fields = found.message if root in scope.roots else message
        yield found.model_copy(update={"code": "UNKNOWN_NAME", "node": node, "message": fields})


def missing(node: str, place: str, name: str, scope: GraphScope) -> Problem:
    """The finding for a reference to a node that does not exist."""
    names = _(", ").join(list(scope.schemas)[:20])
    template = _("It needs the output of {source}, which is not in the workflow. Nodes: {names}")
    fix = nearest(name, scope.schemas)
    message = template.format(source=name[:80], names=names)
    return Problem(code="MISSING_REFERENCE", node=node, field=place, message=message, fix=fix)

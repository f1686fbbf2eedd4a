"""Everything that can be said about a workflow before it runs, as one list of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pydantic import BaseModel

from flowcabal_tui.domain.binding import RUN_VALUES, bindings, node_of, references
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Block, Finding, Node, TextBlock, VirtualBlock, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependencies, kind_and_params, order


def validate(workflow: Workflow) -> tuple[Finding, ...]:
    """Findings in the document's order; a workflow without errors can run. Changes nothing."""
    if not workflow.nodes:
        return (Finding(code="NO_NODES", message=_("The workflow has no nodes.")),)
    findings = [*_doubles(workflow), *(finding for node in workflow.nodes for finding in _node(workflow, node))]
    known = {node.id for node in workflow.nodes}
    for edge in workflow.edges:
        findings += [
            Finding(code="UNKNOWN_NODE", node=end, message=_("An edge names the unknown node {node}.").format(node=end))
            for end in (edge.source, edge.target)
            if end not in known
        ]
    if not any(finding.severity == "error" for finding in findings):
        findings += _cycle(workflow)
    return tuple(findings)


def require_valid(workflow: Workflow) -> None:
    """Raises WorkflowError that lists every error."""
    errors = [finding for finding in validate(workflow) if finding.severity == "error"]
    if errors:
        raise WorkflowError(
            _("The workflow {name} cannot run.").format(name=workflow.name or workflow.id),
            "\n".join(f"[{error.code}] {error.node + ': ' if error.node else ''}{error.message}" for error in errors),
            _("Nothing was run. Correct the workflow and start again."),
        )


def _doubles(workflow: Workflow) -> Iterator[Finding]:
    for node, count in Counter(node.id for node in workflow.nodes).items():
        if count > 1:
            yield Finding(code="DOUBLE_ID", node=node, message=_("{n} nodes have this id.").format(n=count))


def _node(workflow: Workflow, node: Node) -> Iterator[Finding]:
    try:
        kind, params = kind_and_params(node)
    except WorkflowError as error:
        yield Finding(code="BAD_NODE", node=node.id, message=f"{error.title} {error.detail}")
        return
    blocks = kind.blocks(params)
    known = {other.id for other in workflow.nodes}
    for source in references(blocks, known):
        if source == node.id:
            yield Finding(code="SELF_REFERENCE", node=node.id, message=_("It asks for its own output."))
        elif source not in known:
            yield _missing(node.id, source, known)
    yield from (_unknown_name(node.id, path) for path in _paths(blocks) if not _known_path(path))
    yield from _empty(node.id, blocks, params)


def _missing(node: NodeId, source: NodeId, known: set[NodeId]) -> Finding:
    return Finding(
        code="MISSING_REFERENCE",
        node=node,
        message=_("It needs the output of {source}, which is not in the workflow. Nodes: {names}").format(
            source=source, names=", ".join(sorted(known))
        ),
    )


def _paths(blocks: tuple[Block, ...]) -> list[str]:
    return [path for block in blocks if isinstance(block, TextBlock) for path in bindings(block.text)]


def _known_path(path: str) -> bool:
    return path.startswith("input.") or path in RUN_VALUES or node_of(path) is not None


def _unknown_name(node: NodeId, path: str) -> Finding:
    return Finding(
        code="UNKNOWN_NAME",
        node=node,
        message=_("The prompt asks for {path}. There are: {names}, input.NAME, result_of.NODE.text").format(
            path=path, names=", ".join(RUN_VALUES)
        ),
    )


def _empty(node: NodeId, blocks: tuple[Block, ...], params: BaseModel) -> Iterator[Finding]:
    has_prompt = getattr(params, "prompt", blocks)
    if "prompt" in type(params).model_fields and not any(
        not isinstance(block, TextBlock) or block.text.strip() for block in has_prompt
    ):
        yield Finding(code="EMPTY_PROMPT", node=node, message=_("The prompt is empty."))
    for block in blocks:
        if isinstance(block, VirtualBlock) and block.frozen == "":
            yield Finding(
                code="EMPTY_FROZEN",
                node=node,
                message=_("The frozen text of {node} is empty.").format(node=block.node),
                severity="warning",
            )


def _cycle(workflow: Workflow) -> Iterator[Finding]:
    try:
        order(dependencies(workflow))
    except WorkflowError as error:
        yield Finding(code="CYCLE", message=f"{error.title} {error.detail}")

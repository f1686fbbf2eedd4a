"""Nodes, attempts and requests of past runs, read from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flowcabal_tui.domain.errors import FlowCabalError, RunError
from flowcabal_tui.domain.ids import Digest, NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.run import UNDER_WAY, Attempt, node_state_in
from flowcabal_tui.domain.versions import NodeVersion, VersionTrace
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependencies
from flowcabal_tui.project.runs.layers import kept_trace
from flowcabal_tui.project.runs.tracing import trace
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.project.words import inner_title
from flowcabal_tui.project.workflows.overrides import no_node
from flowcabal_tui.runner.fold import AttemptFold, NodeFold, fold
from flowcabal_tui.runner.scope import RunScope
from flowcabal_tui.store import Store


class RunQueries:
    """Reads only; lives on the engine's loop."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def node(self, run: RunId, node: NodeId) -> NodeView:
        """A node with the texts of all its attempts."""
        workflow = await self._store.runs.workflow_of(run)
        found, made = await self._made(workflow, run, node)
        attempts = [await self._attempt(run, node, each) for each in made]
        chosen, item_errors = found.chosen, tuple[str, ...]()
        if not made and found.state == "done":  # a node that makes no attempts of its own: its output is the only one
            output = Output(await self._store.runs.text(found.digest), found.form)
            item_errors = output.errors
            attempts, chosen = [Attempt(1, output.text, digest=found.digest)], 1
        asked = await self._store.runs.question(found.question) if found.question else None
        state = found.state
        if state in UNDER_WAY and await self._store.runs.is_interrupted(run):
            state = node_state_in("interrupted", state)
        return NodeView(
            run=run,
            node=node,
            title=_title(workflow, node),
            kind=next((one.kind for one in workflow.nodes if one.id == node), ""),
            state=state,
            attempts=tuple(attempts),
            chosen=chosen,
            partial=attempts[-1].text if attempts and not attempts[-1].complete else "",
            question=asked if state == "waiting" else None,
            error=found.error,
            item_errors=item_errors,
            begins=tuple(_title(workflow, one) for one, needed in dependencies(workflow).items() if node in needed),
        )

    async def _made(self, workflow: Workflow, run: RunId, node: NodeId) -> tuple[NodeFold, list[AttemptFold]]:
        """A node, or one inside another, as recorded in the log, with its attempts."""
        nodes = fold(await self._store.runs.node_history(run, node)).nodes
        if node not in nodes and node.partition("/")[0] not in {one.id for one in workflow.nodes}:
            raise no_node(workflow, node)  # a node inside of another may have begun without a line in the log
        found = nodes.get(node) or NodeFold()
        return found, [each for _number, each in sorted(found.attempts.items()) if each.started or each.done]

    async def trace(self, scope: RunScope, node: NodeId, number: int) -> VersionTrace:
        """The request of an attempt of a run (0: the chosen one). `scope` is the run's. Raises RunError."""
        run = scope.id
        nodes = fold(await self._store.runs.history(run)).nodes
        found, made = await self._made(scope.workflow, run, node)
        wanted = next((each for each in made if each.number == (number or found.chosen)), None)
        if wanted is None:
            raise RunError(_("There is no attempt {n} to choose.").format(n=number or found.chosen))
        done = {path: known for path, known in nodes.items() if known.state == "done" and known.digest}
        texts = await self._store.runs.texts(tuple({known.digest for known in done.values()}))
        kept = await self._store.sent.of(run, f"node:{node}", wanted.number)
        try:
            made_again = await trace(
                scope,
                node,
                wanted,
                [await self._attempt(run, node, each) for each in made],
                {path: Output(texts[known.digest], known.form, known.digest) for path, known in done.items()},
            )
        except FlowCabalError:
            if kept is None:
                raise
            return kept_trace(kept, None)
        return made_again if made_again.exact or kept is None else kept_trace(kept, made_again)

    async def texts(self, versions: Sequence[NodeVersion]) -> tuple[str, ...]:
        """The texts of these versions, in this order and in readable form."""
        found = await self._store.runs.texts(tuple({version.digest for version in versions}))
        return tuple(Output(found[version.digest], version.form).text for version in versions)

    async def _attempt(self, run: RunId, node: NodeId, found: AttemptFold) -> Attempt:
        if found.done:
            attempt = found.attempt(await self._store.runs.text(Digest(found.done["digest"])))
            if not attempt.cached or attempt.receipt is not None:
                return attempt
            chapter = (await self._store.runs.run_request(run)).chapter
            return replace(attempt, receipt=await self._store.versions.receipt_of(node, chapter, attempt.key))
        return found.attempt(await self._store.runs.partial_text(run, node, found.number))


def _title(workflow: Workflow, node: NodeId) -> str:
    return next((one.title for one in workflow.nodes if one.id == node), inner_title(node))

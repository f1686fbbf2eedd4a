"""The workflow that is killed: 200 nodes of every kind that a run can hold, and what a person answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.domain.workflow import Edge, Node, Workflow

COUNTER: Final = "steps"
"""The key of the state that every `state_write` of the workflow counts up."""
CALLED: Final = Workflow(
    id="called",
    nodes=(
        Node(
            id=NodeId("write"),
            params={"prompt": [{"kind": "text", "text": "called {{input.name}}"}], "context": False, "review": "never"},
        ),
        Node(id=NodeId("count again"), kind="state_write", params={"increment": ["own"]}),
        Node(id=NodeId("count"), kind="state_write", params={"increment": ["own"]}),
        Node(
            id=NodeId("last"),
            params={
                "prompt": [
                    {"kind": "text", "text": "called {{input.name}} last "},
                    {"kind": "virtual", "node": "write"},
                    {"kind": "text", "text": " {{state.own}}"},
                ],
                "context": False,
                "review": "never",
            },
        ),
    ),
    edges=(
        Edge(source=NodeId("write"), target=NodeId("count again")),
        Edge(source=NodeId("count again"), target=NodeId("last")),
        Edge(source=NodeId("count"), target=NodeId("last")),
    ),
)
"""A sub-flow with a state of its own: its last prompt says how often that was counted up."""


def prompt(node: str, *above: str, review: str = "never", says: str = "") -> Node:
    """A prompt that no other equals: its answer tells which one it was."""
    blocks: list[dict[str, Any]] = [{"kind": "text", "text": f"{node} {says} "}]
    blocks += [{"kind": "virtual", "node": each} for each in above]
    return Node(id=NodeId(node), params={"prompt": blocks, "context": False, "review": review})


def of(node: str, kind: str, /, **params: Any) -> Node:
    """A node of another kind."""
    return Node(id=NodeId(node), kind=kind, params=params)


def act(node: str, name: str) -> Node:
    """An action that leaves a line in the ledger."""
    return of(node, "action", action="note", params={"name": name})


def body(*nodes: Node, leave: str) -> dict[str, Any]:
    """A graph inside a node, its nodes one after the other."""
    edges = [{"source": one.id, "target": after.id} for one, after in pairwise(nodes)]
    return {"nodes": [one.model_dump() for one in nodes], "edges": edges, "exit": leave}


def step(text: str) -> dict[str, Any]:
    """A call inside a recursive or an evolution."""
    return {"prompt": [{"kind": "text", "text": text}], "context": False}


def document() -> Workflow:
    """The workflow; about 200 nodes run, those inside others counted."""
    edges: list[Edge] = []
    nodes = [*_drafts(), *_loops(), *_branches(edges), *_candidates()]
    nodes += [of(f"sub{n}", "subflow", ref="called", inputs={"name": f"s{n}"}, share_state=False) for n in range(3)]
    ends = [node.id for node in nodes if node.kind in ("loop", "evolution", "recursive", "subflow")]
    nodes.append(prompt("the end", *ends))
    return Workflow(id="killed", nodes=tuple(nodes), edges=tuple(edges))


def _drafts() -> Iterator[Node]:
    """A graph of prompts; some wait for approval, some take in what a person wrote."""
    for n in range(56):
        above = [f"draft{m}" for m in (n - 7, n - 12) if m >= 0] + ([f"ask{n // 7}"] if n % 7 == 6 else [])
        yield prompt(f"draft{n}", *above, review="always" if n % 14 == 3 else "never")
    yield from (of(f"ask{n}", "human", question=f"What happens in part {n}?") for n in range(8))


def _loops() -> Iterator[Node]:
    for n in range(5):
        inside = (
            prompt(f"round{n}", says="{{loop.index}}"),
            act("noted", f"loop{n}/{{{{loop.index}}}}"),
            of("count", "state_write", increment=[COUNTER]),
        )
        yield of(f"loop{n}", "loop", source=[1, 2, 3], side_by_side=2, body=body(*inside, leave=f"round{n}"))
    inside = (prompt("again", says="{{loop.index}}"), of("asked", "human", question="And then? {{loop.index}}"))
    condition = {"kind": "expression", "expression": "loop.index < 3"}
    yield of("while", "loop", mode="while", condition=condition, body=body(*inside, leave="again"))


def _branches(edges: list[Edge]) -> Iterator[Node]:
    for n in range(5):
        yield of(f"if{n}", "condition", kind="equals", source=f"result_of.draft{n}.text", value="never")
        for label in ("true", "false"):
            yield prompt(f"{label}{n}")
            edges.append(Edge(source=NodeId(f"if{n}"), target=NodeId(f"{label}{n}"), condition=label))
        yield act(f"act{n}", f"act{n}")
        edges.append(Edge(source=NodeId(f"false{n}"), target=NodeId(f"act{n}")))
        yield of(f"count{n}", "state_write", increment=[COUNTER])
    for n in range(3):
        arms = {
            arm: body(prompt("write", says=f"{n}{arm}"), act("noted", f"{n}{arm}"), leave="write")
            for arm in ("a", "b", "c")
        }
        yield of(f"parallel{n}", "parallel", branches=arms)


def _candidates() -> Iterator[Node]:
    for n in range(2):
        variations = [{"label": each, "instruction": each} for each in ("short", "long", "odd")]
        write = step(f"evolution{n} round {{{{round}}}} after {{{{parent}}}}")
        yield of(f"evolution{n}", "evolution", write=write, candidates=3, rounds=2, variations=variations)
        yield of(
            f"recursive{n}",
            "recursive",
            draft=step(f"recursive{n} draft"),
            criticise=step(f"recursive{n} criticise {{{{round}}}} {{{{draft}}}}"),
            revise=step(f"recursive{n} revise {{{{round}}}} {{{{draft}}}} {{{{critique}}}}"),
            depth=2,
            review="never",
        )


def answer(question: Question) -> Decision:
    """What the person says: the same whenever it is asked."""
    if question.kind == "choice":
        return Decision("choose", 1)
    if question.kind == "review":
        return Decision("approve", max(question.attempts))
    if question.kind == "gate":  # an action that a kill cut off may be carried out again
        return Decision("approve")
    return Decision("edit", text=f"A person's answer to {question.node}.")

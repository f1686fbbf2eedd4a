"""What a person in a terminal sees of a run."""

from __future__ import annotations

from io import StringIO

from flowcabal_tui.cli.printing import PlainPrinter
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.protocol.runs import NodeCompleted, NodeStreaming, WorkflowCompleted

RUN, A, B = RunId("r"), NodeId("a"), NodeId("b")


def printed(*, moving: bool) -> str:
    out = StringIO()
    printer = PlainPrinter(moving=moving, out=out)
    for event in (
        NodeStreaming(RUN, A, 1, 0, "a text"),
        NodeCompleted(RUN, A, 1, "a text", cached=False),
        NodeCompleted(RUN, B, 0, "the end", cached=False),
        WorkflowCompleted(RUN, ((A, "a text"), (B, "the end"))),
    ):
        printer.event(event)
    return out.getvalue()


def test_what_the_last_nodes_gave_is_said_once_streamed_or_not():
    for moving in (True, False):
        assert [printed(moving=moving).count(text) for text in ("a text", "the end")] == [1, 1], moving

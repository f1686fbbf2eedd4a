"""What a run's log says, event by event: the state of its nodes, its questions, its attempts."""

from __future__ import annotations

from typing import Any

import pytest

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.journal import EventKind, RunEvent
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import Attempt, Evaluation
from flowcabal_tui.domain.state import StateEffect
from flowcabal_tui.runner.fold import NodeFold, RunFold, fold

NODE = NodeId("draft")
VERDICT = Evaluation("approve", "fine", 0.5)


RUN = RunId("r1")
Step = tuple[EventKind, dict[str, Any]]
OF_RUN = ("run-ended", "run-resumed")


def log(*steps: Step, attempt: int = 1) -> RunFold:
    return fold(
        RunEvent(RUN, kind, NodeId("") if kind in OF_RUN else NODE, attempt, payload) for kind, payload in steps
    )


def node(*steps: Step, attempt: int = 1) -> NodeFold:
    return log(*steps, attempt=attempt).nodes[NODE]


ASKED: Step = ("asked", {"question": {"id": "q1"}})


def test_a_question_waits_until_it_is_answered_cancelled_or_the_run_ends() -> None:
    waiting = node(ASKED)
    assert (waiting.state, waiting.question) == ("waiting", QuestionId("q1"))
    answered = node(ASKED, ("answered", {}))
    assert (answered.state, answered.question) == ("running", None)
    cancelled = node(ASKED, ("cancelled", {}))
    assert (cancelled.state, cancelled.question) == ("cancelled", None)
    ended = log(ASKED, ("run-ended", {"state": "cancelled"}))
    assert ended.state == "cancelled"
    assert (ended.nodes[NODE].state, ended.nodes[NODE].question) == ("pending", None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("attempt-started", {}), "pending"),
        (("node-failed", {"title": "No", "detail": ""}), "pending"),
        (("node-blocked", {}), "pending"),
        (("cancelled", {}), "pending"),
        (("node-done", {}), "done"),
        (("node-skipped", {}), "skipped"),
        (ASKED, "waiting"),
    ],
    ids=str,
)
def test_what_a_resumed_run_does_again(before: Step, after: str) -> None:
    resumed = log(before, ("run-ended", {"state": "failed"}), ("run-resumed", {}))
    assert resumed.state == "running" and resumed.nodes[NODE].error == ""
    assert resumed.nodes[NODE].state == ("pending" if before is ASKED else after), "the end withdraws a question"
    assert log(before, ("run-resumed", {})).nodes[NODE].state == after


def test_an_end_leaves_the_states_of_nodes_that_do_not_wait() -> None:
    ended = log(("node-failed", {"title": "No", "detail": ""}), ("run-ended", {"state": "failed"}))
    assert (ended.state, ended.nodes[NODE].state) == ("failed", "failed")


def test_a_failure_keeps_its_words_and_counts_no_action() -> None:
    acting: Step = ("act-started", {})
    assert (node(acting, acting).state, node(acting, acting).acted) == ("running", 2)
    failed = node(acting, ("node-failed", {"title": "No answer", "detail": "It was silent."}))
    assert (failed.state, failed.error, failed.acted) == ("failed", "No answer\nIt was silent.", 0)
    assert node(("node-failed", {"title": "No answer", "detail": ""})).error == "No answer"


def test_a_try_that_was_cut_is_booked_until_the_next_one_begins() -> None:
    cut: Step = ("attempt-cut", {"stopped": True, "unplaced": True})
    ended = node(("attempt-started", {"key": "k"}), cut).attempts[1]
    assert (ended.booked, ended.stopped, ended.unplaced) == (True, True, True)
    again = node(("attempt-started", {"key": "k"}), cut, ("attempt-started", {"key": "k"})).attempts[1]
    assert (again.booked, again.stopped, again.unplaced) == (False, False, True), "what was unplaced is still paid for"
    plain = node(("attempt-started", {"key": "k"}), ("attempt-cut", {})).attempts[1]
    assert (plain.booked, plain.stopped, plain.unplaced) == (True, False, False)
    later = node(("attempt-started", {}), cut, ("attempt-cut", {})).attempts[1]
    assert (later.stopped, later.unplaced) == (False, True)


def test_a_node_is_done_by_the_attempt_that_was_chosen_or_with_a_value_of_its_own() -> None:
    done = node(("node-done", {"digest": "d", "form": "json"}), attempt=2)
    assert (done.state, done.chosen, done.digest, done.form) == ("done", 2, Digest("d"), "json")
    empty = node(("node-done", {}))
    assert (empty.chosen, empty.digest, empty.form) == (1, Digest(""), "text")


def test_a_change_of_the_state_belongs_to_its_graph() -> None:
    effect = StateEffect("write", {"mood": "calm"})
    inner = log(("node-done", {"state": "loop/1", "effect": to_plain(effect)}))
    assert inner.effects == {"loop/1": {NODE: effect}}
    assert log(("node-done", {"effect": to_plain(effect)})).effects == {"": {NODE: effect}}
    assert log(("node-done", {})).effects == {}


def test_of_the_state_that_a_node_saw_the_first_word_counts() -> None:
    seen = node(("state-seen", {"moment": "1", "state": {"a": 1}}), ("state-seen", {"moment": "1", "state": {"a": 2}}))
    assert seen.seen == {"1": {"a": 1}}


def test_nodes_that_were_served_are_done_with_what_is_known_of_them() -> None:
    model = {"digest": "d", "form": "text", "key": "k", "author": "human"}
    served = fold([RunEvent(RUN, "nodes-served", payload={"nodes": {"code": "c", "draft": model}})]).nodes
    code, draft = served[NodeId("code")], served[NODE]
    assert (code.state, code.digest, code.form, code.chosen, code.attempts) == ("done", "c", "text", 0, {})
    assert (draft.state, draft.digest, draft.chosen) == ("done", "d", 1)
    assert draft.attempts[1].attempt("Snow.").author == "human" and draft.attempts[1].key == "k"


def test_an_attempt_has_everything_that_the_log_says_of_it() -> None:
    started = {"key": "k", "model": "small", "feedback": "Less snow.", "of": 1, "paragraphs": [2, 3]}
    usage = Usage(10, 5, 4, 1)
    done = {
        "digest": "d",
        "author": "human",
        "model": "small-2",
        "finish": "length",
        "usage": to_plain(usage),
        "seconds": 1.5,
        "cached": True,
        "form": "json",
    }
    evaluated: Step = ("evaluated", {"evaluation": to_plain(VERDICT)})
    told = node(("attempt-started", started), ("attempt-done", done), evaluated, attempt=2).attempts[2]
    assert told.attempt("Snow.") == Attempt(
        number=2, text="Snow.", digest=Digest("d"), key=Digest("k"), author="human", model="small-2", finish="length",
        usage=usage, seconds=1.5, cached=True, feedback="Less snow.", of=1, paragraphs=(2, 3), evaluation=VERDICT,
        complete=True, form="json",
    )  # fmt: skip


def test_an_attempt_has_the_receipt_that_it_began_with() -> None:
    receipt = Receipt(NODE, None, Generation(3), 25_000, 900)
    (begun,) = node(("attempt-started", {"receipt": to_plain(receipt)})).attempts.values()
    assert begun.attempt("").receipt == receipt
    assert begun.attempt("").model == "" and begun.attempt("").key == ""


def test_a_node_runs_from_its_first_attempt_and_is_blocked_by_another_s_failure() -> None:
    assert node(("attempt-started", {})).state == "running"
    assert node(("node-blocked", {})).state == "blocked"


def test_an_attempt_that_only_began_is_not_complete() -> None:
    begun = node(("attempt-started", {"key": "k", "model": "small"})).attempts[1]
    assert begun.attempt("Sno") == Attempt(
        number=1, text="Sno", digest=Digest(""), key=Digest("k"), model="small", complete=False
    )
    assert node(("attempt-started", {}), ("attempt-done", {"key": "k2", "digest": "d"})).attempts[1].key == "k2"

"""`run`, `decide` and `keep`: exit codes, answers by flag and by line, and what a program reads."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.cli.answers import Answers
from flowcabal_tui.cli.printing import PlainPrinter
from flowcabal_tui.cli.running import _Session
from flowcabal_tui.domain.ids import NodeId, QuestionId, RunId
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.protocol.base import Command, Event
from flowcabal_tui.protocol.revision import LockChapters
from flowcabal_tui.protocol.runs import Decide, NodeNeedsHuman, QuestionAnswered, RunStateChanged
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint, make_one, opened


def test_an_unanswered_question_ends_with_3_and_stays(demo: Path, call: Call) -> None:
    ran = call("run", demo, "chapter", "--chapter", 7, "--plain")
    assert ran.code == 3
    (question,) = json.loads(call("status", demo, "--json").out)["questions"]
    assert question["id"] in ran.out
    assert question["node"] == "plan"


def test_a_flag_never_answers_a_required_approval(demo: Path, call: Call) -> None:
    ran = call("run", demo, "chapter", "--chapter", 7, "--json", "--decide", "plan=approve")
    assert ran.code == 3
    assert ran.told("human:decided") == []


def test_a_flag_answers_the_question_of_its_node(demo: Path, call: Call) -> None:
    ran = call(
        *("run", demo, "chapter", "--chapter", 7, "--plain"),
        *("--decide", "draft=approve", "--decide", "polish=approve"),
        lines="approve\n",
    )
    assert ran.code == 0, ran.out + ran.err


def test_a_person_at_standard_input_answers_the_plan_and_the_draft(demo: Path, call: Call) -> None:
    ran = call("run", demo, "chapter", "--chapter", 7, "--keep", "polish", lines="approve\nretry\napprove\n")
    assert ran.code == 0, ran.out + ran.err
    assert "“" in ran.out
    assert call("chapters", demo).out.splitlines()[6].endswith("v1")


def test_the_plan_that_is_to_be_approved_is_shown(demo: Path, call: Call) -> None:
    ran = call("run", demo, "chapter", "--chapter", 7, "--plain")
    run, node = ran.out, "plan"
    (summary,) = json.loads(call("status", demo, "--json").out)["runs"]
    assert summary["nodes"][0][0] == node
    assert "1." in run


def test_a_decision_later_goes_on_with_the_run(demo: Path, call: Call) -> None:
    call("run", demo, "chapter", "--chapter", 7, "--plain")
    (question,) = json.loads(call("status", demo, "--json").out)["questions"]
    decided = call("decide", demo, question["id"], "approve", lines="retry\n")
    assert decided.code == 0, decided.out + decided.err
    assert call("decide", demo, question["id"], "approve").code == 2
    status = json.loads(call("status", demo, "--json").out)
    assert status["questions"] == []
    assert status["runs"][0]["state"] == "done"


def test_a_program_reads_events_and_writes_commands(demo: Path, call: Call) -> None:
    waiting = call("run", demo, "chapter", "--chapter", 7, "--json", lines="this is no command\n")
    assert waiting.code == 3
    assert waiting.told("error")[0]["title"] == "That line is not a command."
    (asked,) = waiting.told("node:needs-human")
    assert {"run:started", "node:started", "node:streaming"} <= {message["type"] for message in waiting.messages}
    decision = {"type": "human:decision", "question": asked["question"]["id"], "decision": {"kind": "approve"}}
    run = asked["question"]["run"]
    gone_on = call("run", demo, "--resume", run, "--json", lines=json.dumps(decision) + "\n")
    assert gone_on.code in (0, 3)
    assert gone_on.told("human:decided")[0]["question"] == asked["question"]["id"]
    assert "draft" in {message["node"] for message in gone_on.told("node:started")}


def test_the_streamed_text_is_the_output(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    ran = call("run", folder, "quick-draft", "--chapter", 1, "--json")
    assert ran.code == 0
    (completed,) = ran.told("node:completed")
    assert "".join(piece["chunk"] for piece in ran.told("node:streaming")) == completed["output"]


def test_a_quote_calls_nobody(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    quoted = call("run", folder, "chapter", "--chapter", 1, "--quote", "--json")
    assert quoted.code == 0
    assert quoted.messages[0]["would_run"] == ["plan", "draft", "polish"]
    assert calls(server) == 0
    call("run", folder, "quick-draft", "--chapter", 1, "--plain")
    assert call("run", folder, "quick-draft", "--chapter", 1, "--quote", "--json").messages[0]["served"] == ["draft"]


def test_a_failed_model_ends_with_4_and_resume_goes_on(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    server.push({"status": 401})
    ran = call("run", folder, "quick-draft", "--chapter", 1, "--json")
    assert ran.code == 4
    run = ran.told("run:started")[0]["run"]
    assert call("run", folder, "--resume", run, "--plain").code == 0


def test_a_cancel_by_command_ends_with_5(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    call("run", folder, "chapter", "--chapter", 1, "--plain")
    run = json.loads(call("status", folder, "--json").out)["runs"][0]["id"]
    cancel = json.dumps({"type": "workflow:cancel", "run": run})
    assert call("run", folder, "--resume", run, "--json", lines=cancel + "\n").code == 5


def test_a_workflow_for_a_chapter_that_is_run_without_one_says_how_to_name_it(
    project: Make, server: FaultServer, call: Call
) -> None:
    refused = call("run", project(both(endpoint(server))), "chapter", "--plain")
    assert refused.code == 2
    assert "--chapter N" in refused.err
    assert server.log == []


def test_a_rejected_plan_ends_with_1_and_says_so(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    rejected = call("run", folder, "chapter", "--chapter", 1, "--plain", lines="reject\n")
    assert rejected.code == 1
    told = "plan was rejected; nodes that depend on it do not run."
    assert told in rejected.out.splitlines()
    run = json.loads(call("status", folder, "--json").out)["runs"][0]["id"]
    assert told in call("replay", folder, run).out.splitlines()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--keep", "nothing"], "has no node nothing"),
        (["--input", "wish"], "wish does not set an input"),
        (["--decide", "draft"], "is not a valid answer"),
        (["--set", "draft"], "draft does not set a parameter"),
    ],
)
def test_flags_that_mean_nothing_end_with_2_before_anything_is_paid(
    project: Make, server: FaultServer, call: Call, flags: list[str], said: str
) -> None:
    folder = project(both(endpoint(server)))
    refused = call("run", folder, "quick-draft", "--chapter", 1, *flags)
    assert refused.code == 2
    assert said in refused.err
    assert server.log == []


def test_an_answer_that_is_none_is_told_and_the_next_line_counts(
    project: Make, server: FaultServer, call: Call
) -> None:
    folder = project(both(endpoint(server)))
    ran = call("run", folder, "chapter", "--chapter", 1, "--plain", lines="perhaps\nreject\n")
    assert ran.code == 1
    assert "perhaps is not a valid answer." in ran.out


def test_an_edit_comes_from_a_file(project: Make, server: FaultServer, call: Call, tmp_path: Path) -> None:
    folder = project(both(endpoint(server)))
    (tmp_path / "plan.txt").write_text("1. The bell falls.\x1b[2J", encoding="utf-8")
    ran = call("run", folder, "chapter", "--chapter", 1, "--plain", lines=f"edit:@{tmp_path / 'plan.txt'}\n")
    assert ran.code == 0, ran.out + ran.err
    prompt = server.log[1]["body"]["messages"][-1]["content"]
    assert "1. The bell falls." in prompt
    assert "\x1b" not in prompt


def test_what_is_kept_by_command_is_in_the_book(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    ran = call("run", folder, "quick-draft", "--chapter", 1, "--chapter", 1, "--json")
    run = ran.told("run:started")[0]["run"]
    kept = call("keep", folder, run, "draft", "--wait")
    assert kept.code == 0, kept.err
    assert call("chapters", folder).out.rstrip().endswith("v1")
    assert kept.out.startswith(call("keep", folder, run, "draft").out)
    (listed,) = call("keep", folder).out.splitlines()
    assert kept.out.startswith(f"Kept as {listed.partition(chr(9))[0]}.") and f"{run}/draft#1" in listed
    assert call("keep", folder, run).code == 2
    assert "Advice on kept version 1:" in kept.out
    assert call("chapters", folder).out.rstrip().endswith("v1")


def test_a_run_for_a_locked_chapter_is_refused_before_it_is_paid(
    project: Make, server: FaultServer, call: Call
) -> None:
    folder = project(both(endpoint(server)))
    assert call("lock", folder, 1).code == 0
    refused = call("run", folder, "quick-draft", "--chapter", 1, "--keep", "draft", "--plain")
    assert refused.code == 1 and "is locked" in refused.err and "unlock PROJECT 1" in refused.err
    assert calls(server) == 0
    quoted = call("run", folder, "quick-draft", "--chapter", 1, "--quote", "--json").messages[0]
    assert "cannot be kept until you unlock it" in quoted["warnings"][0]
    unkept = call("run", folder, "quick-draft", "--chapter", 1, "--plain")
    assert unkept.code == 0 and "cannot be kept until you unlock it" in unkept.err


async def test_what_was_paid_while_its_chapter_was_locked_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    async with opened(await make_one(tmp_path / "novel", ModelsSettings(user=OFFLINE, agent=OFFLINE))) as case:
        run, chapter = await case.start("quick-draft", 1), await case.chapter(1)
        await case.project.carry_out(LockChapters((chapter,)))
        printer = PlainPrinter(moving=False)
        assert await _Session(case.project, printer, Answers({}), reads_commands=False).follow(run, "draft") == 3
        assert f"flowcabal-tui keep PROJECT {run} draft" in capsys.readouterr().out
        await case.project.carry_out(LockChapters((chapter,), locked=False))
        await case.keep(run, "draft")
        assert (await case.project.book.chapters())[0].version == 1


class AnswerBeforeItsEvents:
    """A project whose run takes an answer, and says so only when it was asked for events three times more."""

    quiet = True

    def __init__(self, question: Question) -> None:
        ended = (QuestionAnswered(question.id, Decision("approve")), RunStateChanged(question.run, "done"))
        self._events: list[tuple[Event, ...]] = [(NodeNeedsHuman(question),), (), (), ended]

    def take(self) -> tuple[Event, ...]:
        return self._events.pop(0)

    async def carry_out(self, command: Command) -> str:
        assert isinstance(command, Decide)
        return ""


async def test_a_question_that_a_flag_answered_does_not_wait_until_its_events_come(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.setattr("flowcabal_tui.cli.running.TICK_SECONDS", 0.01)
    question = Question(QuestionId("q"), RunId("r"), NodeId("draft"), "review", "found", datetime.now(UTC))
    project: Any = AnswerBeforeItsEvents(question)
    session = _Session(project, PlainPrinter(moving=False), Answers.from_flags(["draft=approve"]), reads_commands=False)
    session._input_ended = True
    assert await session.follow(question.run, None) == 0
    assert "stays open" not in capsys.readouterr().out

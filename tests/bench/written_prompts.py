"""The most important prompts of the demo books as files for reading: `python -m tests.bench.written_prompts [FOLDER]`.

A recorder around the offline model keeps each request as it goes out. The demo is the same everywhere, and so are the
files; `tests/test_written_prompts.py` holds that they are what the program makes now.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel

from flowcabal_tui.domain.conversation import ConversationId
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.model_calls import Answer, Message, ModelEvent, ModelRequest
from flowcabal_tui.domain.run import Decision, Question, RunRequest
from flowcabal_tui.models.offline import OfflineModel
from flowcabal_tui.project import Project, create_demo
from flowcabal_tui.protocol.book import CheckBeats, PersistOutput, RewriteSelection
from flowcabal_tui.protocol.conversations import AskBook, StartConversation
from flowcabal_tui.protocol.runs import Decide, RunWorkflow
from flowcabal_tui.settings.project_file import load_project, save_project
from tests.bench.projects import own_folders
from tests.trusting import confirmed

FOLDER: Final = Path(__file__).parents[2] / "docs" / "prompts"
LANGUAGES: Final = ("en", "zh")
SHOWN_STATES: Final = {"en": "Shorter, and only what he sees.", "zh": "写短一些，只写他看见的。"}
"""What the writer asks for when a passage is rewritten."""
ASKED: Final = {"en": "Who knows that the lamp was put out on purpose?", "zh": "谁知道灯是故意熄灭的？"}
"""What the writer asks in a conversation."""
FENCE: Final = "~~~~"
TOLD: Final = {
    "plan": "The plan of a chapter",
    "draft": "The draft from the plan",
    "polish": "The polishing of the draft",
    "retry": "Another attempt, with what the check found",
    "mend": "The paragraphs that the check doubts, and no others",
    "quick-draft": "A draft without a plan",
    "rewrite": "A selection is rewritten",
    "check-1": "The first question of a check",
    "check-2": "The second question of a check",
    "defence": "The defence: the question about the doubts that a check leaves",
    "reading": "The reading of a kept chapter",
    "profiles": "The profiles that a kept chapter makes due",
    "outline": "The outline of the book",
    "conversation": "A question about the book",
    "beats": "The question which beats of the outline a chapter covers",
}
"""The prompts, in the order of the files."""
LONGER: Final = {"en": "About 900 words.", "zh": "约一千五百字。"}
"""What the writer adds to the wish."""
LEFT: Final = {"en": " [TODO: what the name means]", "zh": "【此处待补：名字的含义】"}
"""What the writer leaves in a beat of the plan: the draft takes it over, and a rule finds it there."""
T = TypeVar("T", bound=BaseModel)
Said = Callable[[Question, str], Decision]


class Recorder(OfflineModel):
    """The offline model, with all that it was asked."""

    def __init__(self) -> None:
        super().__init__(pace=0.0)
        self.asked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked.append(request)
        async for event in super().stream(request):
            yield event

    async def answer(self, request: ModelRequest) -> Answer:
        if request not in self.asked:  # `structured` asks through here
            self.asked.append(request)
        return await super().answer(request)

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        self.asked.append(request)
        return await super().structured(request, shape)

    def of(self, purpose: str) -> list[ModelRequest]:
        """The requests with this purpose."""
        return [each for each in self.asked if each.purpose == purpose]


def _clock() -> datetime:
    """The time of all that is made: ids of chapters are made of it, and what is equal goes by ids."""
    return datetime(2026, 1, 1, tzinfo=UTC)


async def recorded(language: str) -> dict[str, ModelRequest]:
    """By name the requests for the chapter that the demo is about, from its plan to the profile after it is kept."""
    with own_folders() as folder:
        book = await create_demo(folder / "book", language, _clock)
        settings = load_project(book)
        knowledge = settings.knowledge.model_copy(update={"enabled": False})
        save_project(book, settings.model_copy(update={"knowledge": knowledge}))
        confirmed(book)
        project = await Project.open(book, knowledge=False, pace=0.0, clock=_clock)
        try:
            await project.memory.settled()
        finally:
            await project.close()
        recorder = Recorder()
        project = await Project.open(book, knowledge=False, pace=0.0, clock=_clock)
        project._parts.base.models._offline = lambda: recorder  # type: ignore[method-assign]  # the one place of this model
        try:
            return await _requests(project, recorder, language)
        finally:
            await project.close()


async def _requests(project: Project, recorder: Recorder, language: str) -> dict[str, ModelRequest]:
    chapters = await project.book.chapters()
    target, wish = chapters[-1].id, await project.drafts.draft(f"instruction/{chapters[-1].id}") or ""

    async def asked(workflow: str, how: str, chapter: ChapterId | None = target, said: str = wish) -> RunId:
        recorder.asked.clear()
        left = LEFT[language] if how == "mend" else ""
        return await _run(project, RunRequest(workflow, chapter, (("instruction", said),)), _sent_back(how, left))

    await asked("outline", "", None)
    found = {"outline": recorder.of("node:outline")[0]}
    await asked("quick-draft", "")
    found["quick-draft"] = recorder.of("node:draft")[0]
    run = await asked("chapter", "retry")
    found |= {name: recorder.of(f"node:{name}")[0] for name in ("plan", "draft", "polish")}
    found["retry"] = recorder.of("node:polish")[1]
    found["check-1"], found["check-2"] = recorder.of("monitor.check")[:2]
    found["defence"] = recorder.of("monitor.defence")[0]
    await asked("chapter", "mend", said=f"{wish}\n{LONGER[language]}")  # the same words would be served from the store
    found["mend"] = recorder.of("node:polish")[1]
    recorder.asked.clear()
    await project.carry_out(PersistOutput(run, NodeId("polish")))
    await project.memory.settled()
    found["reading"], found["profiles"] = recorder.of("curator.story")[0], recorder.of("curator.profiles")[0]
    text = await project.book.chapter_text(target)
    start = text.index("\n\n") + 2
    end = text.index("\n\n", start)
    await project.carry_out(RewriteSelection(target, start, end, text[start:end], SHOWN_STATES[language]))
    await project.memory.settled()
    found["rewrite"] = recorder.of("rewrite")[0]
    talk = ConversationId(await project.carry_out(StartConversation()))
    await project.carry_out(AskBook(talk, ASKED[language]))
    found["conversation"] = recorder.of("conversation")[0]
    await project.carry_out(CheckBeats(target))
    found["beats"] = recorder.of("curator.beats")[0]
    return {name: found[name] for name in TOLD}


def _sent_back(how: str, left: str = "") -> Said:
    """Approves all but the first text in which something is wrong, when there is a way to send it back. `left` is put
    at the end of the first beat of a plan."""

    def answer(question: Question, text: str) -> Decision:
        if left and question.node == "plan":
            return Decision("edit", max(question.attempts), text.replace("\n2. ", f"{left}\n2. ", 1))
        doubted = question.node == "polish" and len(question.attempts) == 1
        if how == "retry" and doubted:
            return Decision("retry")
        return Decision("mend") if how and doubted else Decision("approve", max(question.attempts))

    return answer


async def _run(project: Project, request: RunRequest, answers: Said) -> RunId:
    run = RunId(await project.carry_out(RunWorkflow(request)))
    while (await project.runs.summaries())[0].state not in ("done", "failed", "cancelled"):
        for question in await project.runs.questions():
            text = (await project.runs.node(run, question.node)).attempts[-1].text
            await project.carry_out(Decide(question.id, answers(question, text)))
        await asyncio.sleep(0.005)
    return run


def files(requests: Mapping[str, ModelRequest]) -> Iterator[tuple[str, str]]:
    """Name and text of each file. A message that stands in an earlier file is named, not repeated."""
    there: dict[Message, str] = {}
    for number, (name, request) in enumerate(requests.items(), start=1):
        file = f"{number:02}-{name}.md"
        yield file, f"# {TOLD[name]}\n\n{''.join(_turns(file, request.messages, there))}"


def _turns(file: str, messages: Sequence[Message], there: dict[Message, str]) -> Iterator[str]:
    for turn, message in enumerate(messages, start=1):
        yield f"## {turn}. {message.role}\n\n"
        first = there.setdefault(message, file)
        yield f"As in [{first}]({first}).\n\n" if first != file else f"{FENCE}text\n{message.content}\n{FENCE}\n\n"


def write(folder: Path) -> None:
    """Writes a folder of files for each language."""
    for language in LANGUAGES:
        (folder / language).mkdir(parents=True, exist_ok=True)
        for name, text in files(asyncio.run(recorded(language))):
            (folder / language / name).write_text(f"{text.rstrip()}\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)

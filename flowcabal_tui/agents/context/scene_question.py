"""The scene of a chapter by the agents' model, which is asked once for the same outline and instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import Field, model_validator

from flowcabal_tui.agents.context.gather import BookInputs
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.names.called import as_called_here
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.prompt_library import PromptLibrary, name_lines
from flowcabal_tui.domain.answer_schema import StructuredAnswer, few
from flowcabal_tui.domain.context import NO_SCENE, SCENE_FIELDS, Scene, SceneKind
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import in_language
from flowcabal_tui.domain.text import clean_line, digest_of
from flowcabal_tui.locale import _

TASK: Final = "context.scene"
LONGEST: Final = 8_000
"""Maximum characters of the outline, and of the instruction, in the question."""
NAMES: Final = 30
MOST_NAMES: Final = 16
LONGEST_NAME: Final = 40
LONGEST_LINE: Final = 120
_SHORTENED: Final = (
    "[已删减：以上是全文 {m} 字中的前 {n} 字]",
    "[Shortened: these are the first {n} of {m} characters]",
)
_UNKNOWN: Final[dict[str, Any]] = {"who": [], "where": "", "when": "", "kind": "unknown"}


class SceneAnswer(StructuredAnswer):
    """The answer to `context.scene`. Unreadable fields are empty, and `unread` names them."""

    who: list[str] = few(MOST_NAMES)
    where: str = Field(json_schema_extra={"maxLength": LONGEST_LINE})
    when: str = Field(json_schema_extra={"maxLength": LONGEST_LINE})
    kind: SceneKind

    @model_validator(mode="before")
    @classmethod
    def _read_in_part(cls, answer: Any) -> Any:
        return {**_UNKNOWN, **answer} if isinstance(answer, dict) and answer.get("unread") else answer

    @property
    def scene(self) -> Scene:
        """The scene of the answer, each value on one line; values that are too long are left out."""
        who = tuple(dict.fromkeys(name for each in self.who if (name := _line(each, LONGEST_NAME))))
        kind = None if self.kind == "unknown" else self.kind
        return Scene(who[:MOST_NAMES] or None, _line(self.where), _line(self.when), kind)


@dataclass(frozen=True, slots=True)
class ModelScene:
    """The model's scene, with a note for the receipt; or the tokens of the question that is still to be asked."""

    scene: Scene = NO_SCENE
    note: str = ""
    asks: int = 0
    question: Digest = Digest("")


NOT_ASKED: Final = ModelScene()


class SceneReader:
    """Asks the agents' model about scenes, after a failure not again. Without `spend`, only stored answers are used."""

    def __init__(
        self, model: Callable[[], PaidOnce], prompts: PromptLibrary, counter: TokenCounter, *, spend: bool
    ) -> None:
        self._model, self._prompts, self._counter, self._spend = model, prompts, counter, spend
        self._failed: dict[Digest, ModelScene] = {}

    async def read(self, book: BookInputs, writer: Scene, beats: str, wish: str) -> ModelScene:
        """The scene of a chapter by outline and instruction; not asked if both are empty or the writer set every
        field."""
        beats, wish = beats.strip(), wish.strip()
        if not (beats or wish) or all(getattr(writer, field) is not None for field in SCENE_FIELDS):
            return NOT_ASKED
        question = digest_of([beats, wish])
        if question not in self._failed:
            try:
                return await self._ask(book, beats, wish, question)
            except FlowCabalError as error:
                why = _("The scene was read by rule: {why}").format(why=error.title)
                self._failed[question] = ModelScene(note=why)
        return self._failed[question]

    async def _ask(self, book: BookInputs, beats: str, wish: str, question: Digest) -> ModelScene:
        """Asks the question. Raises FlowCabalError when there was no answer."""
        model, language = self._model(), book.view.language
        cast = await as_called_here(book.view, named_in(f"{beats}\n{wish}", book.entities)[:NAMES])
        prompt = self._prompts.get(TASK)
        shown = {"beats": _shortened(beats, language), "wish": _shortened(wish, language)}
        messages = prompt.fill({"language": language, "names": name_lines(cast), **shown})
        request = ModelRequest(messages, purpose=TASK)
        about = (prompt.digest, language, beats, wish)
        found = await model.once(request, SceneAnswer, about, spend=self._spend)
        if found is None:
            tokens = sum(self._counter.count(message.content) for message in messages)
            return ModelScene(asks=max(1, tokens), question=question)
        return _scene_of(found.value)


def _scene_of(answer: SceneAnswer | None) -> ModelScene:
    if answer is None or {place.partition("[")[0] for place in answer.unread} >= set(SCENE_FIELDS):
        return ModelScene(note=_("The model's answer about the scene could not be read: the scene was read by rule."))
    if answer.unread:
        note = _("A part of the model's answer about the scene could not be read.")
        return ModelScene(answer.scene, note)
    return ModelScene(answer.scene)


def _line(words: str, longest: int = LONGEST_LINE) -> str | None:
    line = " ".join(clean_line(words).split())
    return line if 0 < len(line) <= longest else None


def _shortened(text: str, language: str) -> str:
    if len(text) <= LONGEST:
        return text
    words = in_language(_SHORTENED, language).format(n=LONGEST, m=len(text))
    return f"{text[:LONGEST]}\n{words}"

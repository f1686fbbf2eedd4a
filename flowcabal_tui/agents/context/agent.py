"""The Context agent: a pure function from a node and the state of the book to the context of the node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.context import facts, gather
from flowcabal_tui.agents.context.budget import Ledger
from flowcabal_tui.agents.context.candidates import HIDDEN, ContextText
from flowcabal_tui.agents.context.gather import BookInputs, Finder
from flowcabal_tui.agents.context.inquiry import InquiryAnswer, answer_inquiry
from flowcabal_tui.agents.context.intent import SceneReading, read_intent
from flowcabal_tui.agents.context.outline import Wanted, outline
from flowcabal_tui.agents.context.own_words import before_the_text, chapter_words, missing_outputs, own_words
from flowcabal_tui.agents.context.profiles import profiles
from flowcabal_tui.agents.context.references import ReferenceBooks, near
from flowcabal_tui.agents.context.relevance import Relevance
from flowcabal_tui.agents.context.scene import scene_lines
from flowcabal_tui.agents.context.scene_question import NOT_ASKED, ModelScene, SceneReader
from flowcabal_tui.agents.context.shares import BESIDES, SHARES
from flowcabal_tui.agents.context.viewpoint import VeiledFinder, VeiledView, Viewpoint, left_out, look_through
from flowcabal_tui.agents.loop import Agent
from flowcabal_tui.agents.names.called import as_called_here
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.ports import MemoryPort, MemoryView
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.agents.tokens import CountedTokens
from flowcabal_tui.domain.context import NO_SCENE, NOTHING_ABOUT, About, BudgetClass, Injection, Receipt, Scene
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import KnowledgeAbsent, KnowledgeError, KnowledgePending, ModelError
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import in_language
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.windows import context_room, prompt_room
from flowcabal_tui.domain.workflow import Node, PromptParams, TextBlock, Workflow
from flowcabal_tui.locale import _, sentences

_LAST_PAGES: Final = 3_000
_MOST_READ: Final = 100_000
"""Maximum characters of a chapter's outline from which the scene is read, which bounds the time of an assembly."""
_FRAME: Final = 64
"""Tokens of the messages around their texts, of a chat template for example."""
_SHORTENED: Final = (
    "因模型窗口较小，以下资料已删减：没有提到的内容，书中仍可能有。",
    "The material below was shortened to fit the window: the book may contain more than is given here.",
)
_OUTLINE_SPACE: Final = 1_200
"""Tokens for the chapters before a chapter, and as many for the book's and the volume's own words."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The node, prompt and chapter for which a context is assembled."""

    workflow: Workflow
    node: Node
    params: PromptParams
    prompt: str
    chapter: ChapterId | None
    generation: Generation
    inquiries: tuple[str, ...]
    about: About = NOTHING_ABOUT


@dataclass(frozen=True, slots=True)
class BookBefore:
    """The book before the target chapter, its last pages, and the point of view (None: the narrator)."""

    book: BookInputs
    last_pages: str
    finder: Finder | None
    viewpoint: Viewpoint | None = None
    scene: Scene = NO_SCENE
    """The scene that the writer set for the chapter."""
    beats: str = ""
    """The beats of the chapter, where the node gets the outline."""


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """The intent and the candidates of every class, best first.

    `candidates` are those of the chapter, for all its nodes; `besides` those of the rest of this prompt, None where the
    prompt does not separate the two.
    """

    reading: SceneReading
    candidates: dict[BudgetClass, list[ContextText]]
    besides: dict[BudgetClass, list[ContextText]] | None
    hidden: tuple[ContextText, ...]
    notes: tuple[str, ...]
    pending: tuple[str, ...] = ()


class ContextAgent(Agent[Assignment, BookBefore, ContextPlan, Injection]):
    """Assembles contexts. `budget` is in tokens of `counter` and never exceeded.

    `model` answers inquiries (None: excerpts are used); with `spend` False only stored answers are used, as for a
    preview. A class left out of `shares` is switched off. `fixed` are sentences of templates, which are not looked up.
    `endpoint` gives the window size of a role's model. With `asks_scene` the model is asked about the scene of a
    chapter.
    """

    def __init__(
        self,
        memory: MemoryPort,
        counter: TokenCounter,
        budget: int,
        *,
        prompts: PromptLibrary | None = None,
        model: Callable[[], PaidOnce] | None = None,
        finder: Finder | None = None,
        spend: bool = True,
        shares: Mapping[BudgetClass, float] = SHARES,
        kinds: ProfileKinds | None = None,
        references: ReferenceBooks | None = None,
        fixed: Set[str] = frozenset(),
        endpoint: Callable[[Role], Endpoint | None] = lambda _role: None,
        asks_scene: bool = False,
    ) -> None:
        self._memory, self._counter, self._budget = memory, CountedTokens(counter), budget
        self._prompts, self._model, self._finder = prompts or PromptLibrary(), model, finder
        self._counted_by: str = getattr(counter, "counted_by", "")
        self._spend, self._shares, self._endpoint = spend, shares, endpoint
        self._kinds, self._references, self._fixed = kinds or ProfileKinds(), references, fixed
        self._scenes = SceneReader(model, self._prompts, self._counter, spend=spend) if asks_scene and model else None

    async def assemble(
        self,
        workflow: Workflow,
        node: Node,
        params: PromptParams,
        prompt: str,
        chapter: ChapterId | None,
        generation: Generation,
        inquiries: Sequence[str],
        about: About = NOTHING_ABOUT,
    ) -> Injection:
        """The injection for one node with its receipt. The same book and prompt give the same bytes."""
        return await self.pursue(
            Assignment(workflow, node, params, prompt, chapter, generation, tuple(inquiries), about)
        )

    async def observe(self, goal: Assignment) -> BookBefore:
        view, finder = await self._memory.view(goal.chapter, goal.generation), self._finder
        viewpoint = await look_through(view, name) if (name := goal.params.point_of_view) else None
        if viewpoint is not None:
            view = VeiledView(view, viewpoint)
            finder = VeiledFinder(finder, view, viewpoint) if finder else None
        book = await gather.read_book(view)
        last = await book.view.chapter_text(book.chapters[-1].id) if book.chapters else ""
        scene = await self._memory.scene(goal.chapter, goal.generation) if goal.chapter else NO_SCENE
        beats = await self._beats(goal, view)
        return BookBefore(book, last[-_LAST_PAGES:].replace(HIDDEN, ""), finder, viewpoint, scene, beats)

    @staticmethod
    async def _beats(goal: Assignment, view: MemoryView) -> str:
        if goal.chapter is None or goal.params.outline == "none":
            return ""
        return (await view.outline()).beats(goal.chapter).replace(HIDDEN, "")

    async def reason(self, goal: Assignment, seen: BookBefore, hints: tuple[str, ...]) -> ContextPlan:
        """The intent, then candidates class by class: for the chapter, and for the rest of the prompt."""
        book = seen.book
        prompt_words = own_words(goal.params.prompt, before_the_text(goal.prompt), self._fixed, goal.about.titles)
        of_chapter = chapter_words(goal.prompt)
        model_scene = await self._model_scene(goal, seen, goal.about.wish if of_chapter is None else of_chapter)
        reading = shared = self._read(goal, seen, prompt_words, model_scene.scene)
        if of_chapter is not None:
            shared = self._read(goal, seen, of_chapter, model_scene.scene)
        notes = [sentences(problem.title, problem.detail) for problem in self._kinds.problems()]
        notes += [model_scene.note] if model_scene.note else []
        if (length := len(seen.beats)) > _MOST_READ:
            words = _("The scene was read from the first {n} of {m} characters of the chapter's outline.")
            notes.append(words.format(n=f"{_MOST_READ:,}", m=f"{length:,}"))
        pending = [_("the scene, as the agents' model reads it")] if model_scene.asks else []
        candidates = await self._candidates(goal, seen, shared, of_chapter or prompt_words, notes, pending)
        besides = None if of_chapter is None else {} if reading == shared else await self._besides(book, reading)
        hidden: list[ContextText] = []
        if (viewpoint := seen.viewpoint) is not None:
            hidden = facts.withheld(viewpoint, book, reading)
            for by_class in (candidates, besides or {}):
                for name, found in by_class.items():
                    by_class[name], more = left_out(found)
                    hidden += [each for each in more if each not in hidden]
            if viewpoint.entity is None:
                notes.append(
                    _("The book has no character called {name}: secrets are left out.").format(name=viewpoint.name)
                )
        intent = replace(reading.intent, asks=model_scene.asks, question=model_scene.question)
        reading = replace(reading, intent=intent)
        return ContextPlan(reading, candidates, besides, tuple(hidden), tuple(notes), tuple(pending))

    async def _model_scene(self, goal: Assignment, seen: BookBefore, wish: str) -> ModelScene:
        """The agents' model's description of the chapter's scene, if it may be asked."""
        if self._scenes is None or goal.chapter is None:
            return NOT_ASKED
        return await self._scenes.read(seen.book, seen.scene, seen.beats, wish)

    def _read(self, goal: Assignment, seen: BookBefore, words: str, model: Scene) -> SceneReading:
        book = seen.book
        texts = {"beats": seen.beats[:_MOST_READ], "title": goal.about.titles.get("chapter.title", "")}
        language = book.view.language
        return read_intent(words, seen.last_pages, book.entities, language, **texts, writer=seen.scene, model=model)

    async def _candidates(
        self,
        goal: Assignment,
        seen: BookBefore,
        reading: SceneReading,
        words: str,
        notes: list[str],
        pending: list[str],
    ) -> dict[BudgetClass, list[ContextText]]:
        book, space = seen.book, self._space(goal)
        relevant = await gather.relevance(book, reading, lambda passages: self._counter.count(passages) <= space)
        brought = await facts.related(book, reading)
        present = await as_called_here(book.view, (*reading.cast, *(entity for entity, _why in brought)))
        candidates: dict[BudgetClass, list[ContextText]] = {
            "meta": await gather.meta(book),
            **await self._outline(goal, book, reading),
            "entities": gather.entity_notes(
                present, {entity.id: why for entity, why in brought} | dict(reading.reasons), book.view.language
            ),
            "facts": [
                *scene_lines(goal.chapter, seen.scene, book.view.language),
                *await facts.fact_lines(book, reading),
            ],
            "profiles": await profiles(book, reading, self._kinds.all(), brought),
            "near": await gather.near(book, self._counter, int(self._space(goal) * self._shares.get("near", 0.0))),
            "last_meeting": await gather.last_meetings(book, reading, relevant),
            "knowledge": await self._knowledge(seen, reading, words, relevant, notes, pending),
            "summaries": await gather.summaries(book, relevant),
            "far": await gather.far(book, relevant),
        }
        if self._references is not None and self._references.always:
            candidates["knowledge"] += await near(self._references, reading)
        return candidates

    async def _besides(self, book: BookInputs, reading: SceneReading) -> dict[BudgetClass, list[ContextText]]:
        """Candidates that a plan names but the chapter's own words do not: people, facts about them, passages."""
        relevant = await gather.relevance(book, reading)
        return {
            "entities": gather.entity_notes(
                await as_called_here(book.view, reading.cast), reading.reasons, book.view.language
            ),
            "facts": await facts.fact_lines(book, reading),
            "profiles": await profiles(book, reading, self._kinds.all()),
            "last_meeting": await gather.last_meetings(book, reading, relevant),
            "far": await gather.far(book, relevant),
        }

    async def act(self, goal: Assignment, seen: BookBefore, thought: ContextPlan, last: bool) -> Injection:
        """Fills the budget, renders, and writes the receipt."""
        language, shortened = seen.book.view.language, self._shortened(goal)
        besides = thought.besides
        notice = f"{in_language(_SHORTENED, language)}\n\n" if shortened else ""
        space = max(0, self._space(goal) - (self._counter.count(notice) if notice else 0))
        ledger = Ledger(space, self._counter, language, self._shares, 0.0 if besides is None else BESIDES)
        notes = [*thought.notes]
        for candidate in thought.hidden:
            ledger.drop(candidate, _("known only to people other than the point of view"))
        answers = await self._answers(goal, seen.book, notes)
        ledger.charge("inquiry", sum(answer.tokens for answer in answers))
        for source in (each for answer in answers for each in answer.sources if each.tokens):
            ledger.hold(source.uri, source.start, source.end)
        for name in self._shares:
            ledger.fill(name, thought.candidates.get(name, ()))
        ledger.spend_rest()
        stable = ledger.close()
        for found in (besides or {}).values():
            ledger.add(found)
        prefix, suffix = ledger.render()
        if shortened and ledger.leaves_out:
            notes.append(shortened)
        else:
            notice = ""
        suffix = f"{notice}{suffix}" if suffix else suffix
        dropped, more = ledger.dropped()
        if more:
            notes.append(_("{n} more candidates were dropped.").format(n=more))
        receipt = Receipt(
            node=goal.node.id,
            chapter=goal.chapter,
            generation=goal.generation,
            budget=self._space(goal),
            used=ledger.measure(prefix, suffix) + sum(answer.tokens for answer in answers),
            sources=(*ledger.sources(), *(source for answer in answers for source in answer.sources)),
            dropped=dropped,
            classes=ledger.classes(),
            intent=thought.reading.intent,
            digest=digest("\0".join((prefix, suffix, *(answer.text for answer in answers)))),
            pending=(
                *missing_outputs(goal.workflow, goal.params, goal.prompt),
                *thought.pending,
                *(answer.pending for answer in answers if answer.pending),
            ),
            counted_by=self._counted_by,
            notes=(*notes, *(answer.note for answer in answers if answer.note)),
        )
        inquiries = tuple((answer.question, answer.text) for answer in answers)
        return Injection(prefix, suffix, receipt, inquiries, min(len(notice) + stable, len(suffix)))

    async def _outline(
        self, goal: Assignment, book: BookInputs, reading: SceneReading
    ) -> dict[BudgetClass, list[ContextText]]:
        """The parts of the outline that the node may see."""
        names = tuple(name for entity in reading.cast for name in entity.names)
        space = self._space(goal) // 2 if goal.chapter is None else min(_OUTLINE_SPACE, self._space(goal) // 6)
        return await outline(book, Wanted(goal.chapter, goal.params.outline, names, space), self._counter)

    def _space(self, goal: Assignment) -> int:
        """The budget in tokens: the least of the project's, the node's, and the space in the model's window."""
        wanted, window = self._wanted(goal), self._window_room(goal)
        return wanted if window is None else max(0, min(wanted, window))

    def _wanted(self, goal: Assignment) -> int:
        wanted = goal.params.context_tokens
        return self._budget if wanted is None else min(wanted, self._budget)

    def _window_room(self, goal: Assignment) -> int | None:
        """The space of the window besides the prompt's own words and an answer; None if unknown."""
        endpoint = self._endpoint(goal.params.role)
        if endpoint is None or endpoint.context_window is None:
            return None
        system = "".join(block.text for block in goal.params.system if isinstance(block, TextBlock))
        own = self._counter.count(system) + self._counter.count(goal.prompt) + goal.about.added + _FRAME
        answer = goal.params.max_tokens or endpoint.max_output
        window = endpoint.context_window
        return min(context_room(window, answer), prompt_room(window, answer) - own)

    def _shortened(self, goal: Assignment) -> str:
        """The receipt's note when the window leaves less than requested and something is left out; "" otherwise."""
        wanted, space = self._wanted(goal), self._space(goal)
        endpoint = self._endpoint(goal.params.role)
        if space >= wanted or endpoint is None:
            return ""
        words = _("The context was shortened from {wanted} to {n} tokens: the window of {model} has {window}.")
        window = f"{endpoint.context_window or 0:,}"
        return words.format(wanted=f"{wanted:,}", n=f"{space:,}", model=endpoint.model, window=window)

    async def _knowledge(
        self,
        seen: BookBefore,
        reading: SceneReading,
        prompt: str,
        relevant: Relevance,
        notes: list[str],
        pending: list[str],
    ) -> list[ContextText]:
        if seen.finder is None:
            return []
        query = " ".join((*(entity.name for entity in reading.cast), prompt, seen.beats)).rstrip()[:2_000]
        try:
            return await gather.knowledge(seen.book, seen.finder, query, relevant)
        except KnowledgePending as error:
            pending.append(_("similar places: {why}").format(why=error.title))
            return []
        except KnowledgeAbsent:
            return []
        except KnowledgeError as error:
            notes.append(_("The knowledge server was not used: {why}").format(why=error.title))
            return []

    async def _answers(self, goal: Assignment, book: BookInputs, notes: list[str]) -> list[InquiryAnswer]:
        questions = tuple(dict.fromkeys(goal.inquiries))
        if not questions:
            return []
        try:
            model = self._model() if self._model else None
        except ModelError as error:
            model = None
            notes.append(_("Inquiries were answered with excerpts: {why}").format(why=error.title))
        space = int(self._space(goal) * self._shares.get("inquiry", 0.0)) // len(questions)
        return [
            await answer_inquiry(
                book, self._references, question, space, self._counter, self._prompts, model, self._spend
            )
            for question in questions
        ]

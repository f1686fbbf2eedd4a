"""Profiles and summaries: reading them with their history, and writing, pinning, accepting and regenerating them."""

from __future__ import annotations

from collections.abc import Mapping

from flowcabal_tui.agents.arcs import ARCS, WORK
from flowcabal_tui.agents.curation.profile_sources import ProfileGoal, whole_evidence
from flowcabal_tui.agents.curation.samples import sample_of, with_sample
from flowcabal_tui.agents.profile_kinds import BOOK, ProfileKind
from flowcabal_tui.domain.errors import Gone, RunError, UnknownName
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, Derived, Entity
from flowcabal_tui.domain.text import clean, digest_of
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import arc_task, profile_task, tasks
from flowcabal_tui.project.memory.sources import SUMMARIES, Sources
from flowcabal_tui.project.views import ProfileRow, ProfileView
from flowcabal_tui.protocol.memory import PinProfile, ProfileUpdated, RegenerateProfile, TakeProfile, WriteProfile
from flowcabal_tui.store.memory.derived import Choice
from flowcabal_tui.store.memory.view import View

ProfileCommand = WriteProfile | PinProfile | TakeProfile | RegenerateProfile
_CHAPTERS = "manuscript/"


class ProfileEditor:
    """Edits profiles and summaries. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, queries: Sources) -> None:
        self._base, self._store, self._queries, self._kinds = base, base.store, queries, base.kinds

    async def rows(self) -> tuple[ProfileRow, ...]:
        """One row for each profile by kind, for the work and each arc, and for each chapter's summaries."""
        view = await self._store.memory.view(None)
        names = {str(entity.id): entity.name for entity in await view.entities()}
        states = await self._store.memory.derived_counts("")
        kinds = {kind.name: kind for kind in self._kinds.all()}
        order = {name: at for at, name in enumerate(kinds)}
        rows: list[ProfileRow] = []
        for state in await view.derived_under("profiles/", "L0"):
            _root, kind, subject = state.uri.split("/", 2)
            title = kinds[kind].title if kind in kinds else kind
            rows.append(_row(kind, names.get(subject, title), state, states, title))
        rows.sort(key=lambda row: order.get(row.kind, len(order)))
        for state in (*await view.derived_under(WORK, "L0"), *await view.derived_under(ARCS, "L0")):
            rows.append(_row("arcs", await self._queries.title(state.uri), state, states, _("Arcs")))
        titles = {f"{_CHAPTERS}{chapter.id}": chapter.title for chapter in await view.chapters()}
        lines = {state.uri: state for state in await view.derived_under(_CHAPTERS, "L0")}
        chapters = [(uri, lines[uri]) for uri in titles if uri in lines]
        return (*rows, *(_row("chapters", titles[uri], state, states, _("Chapters")) for uri, state in chapters))

    async def view(self, uri: str) -> ProfileView:
        """The current state of each level, the offered ones, and all states, newest first."""
        view = await self._store.memory.view(None)
        current = [state for level in SUMMARIES if (state := await view.derived(uri, level)) is not None]
        made = [state for level in SUMMARIES if (state := await view.made(uri, level)) is not None]
        texts = {state.level: state for state in current}
        offered = [
            state
            for state in made
            if state.level in texts
            and state.generation > texts[state.level].generation
            and state.text != texts[state.level].text
        ]
        entity = await self._queries.entity(uri)
        return ProfileView(
            uri,
            await self._queries.title(uri),
            (*current, *(await self._whole(uri, view, entity) if current else ())),
            await self._store.memory.derived_history(uri),
            entity,
            await view.pinned(uri),
            tuple(offered),
        )

    async def _whole(self, uri: str, view: View, entity: Entity | None) -> tuple[Derived, ...]:
        """The L2 of a profile: its whole evidence in the current text."""
        kind, chapters = self._kind(uri), await view.chapters()
        if kind is None or not chapters or (entity is None and not kind.of_book):
            return ()
        evidence = await whole_evidence(ProfileGoal(kind, entity, view, chapters[-1]))
        text = "\n".join(each.sentence for each in evidence)
        last = chapters[-1].position
        whole = Derived(uri, "L2", text, digest_of(text), last, view.generation, "extract", evidence)
        return (whole,) if evidence else ()

    async def carry_out(self, command: ProfileCommand) -> None:
        """Carries out a command. Raises RunError; then nothing was changed."""
        match command:
            case WriteProfile():
                await self._write(command)
            case PinProfile(uri=uri, generation=generation):
                await self._choose(uri, "unpin" if generation is None else "pin", generation)
            case TakeProfile(uri=uri):
                await self._take(uri)
            case RegenerateProfile(uri=uri):
                await self._store.outbox.add(await self._again(uri))
        self._base.work.wake()

    async def _write(self, command: WriteProfile) -> None:
        uri, level, text = command.uri, command.level, clean(command.text).strip()
        if level not in SUMMARIES:
            raise RunError(
                _("The full text of a profile is read from the book."),
                _("Nothing was changed."),
                _("Write its line or its summary."),
            )
        if not text:
            raise RunError(_("There is no text."), _("Nothing was changed."))
        view = await self._store.memory.view(None)
        known = [state for each in (level, *SUMMARIES) if (state := await view.derived(uri, each)) is not None]
        position = known[0].position if known else (await self._newest_chapter(uri)).position
        before = known[0].evidence if known and known[0].level == level else ()
        evidence = tuple(each for each in before if each.sentence in text)
        source = digest_of(["hand", text])
        state = Derived(uri, level, text, source, position, Generation(0), "hand", evidence)
        await self._store.memory.put_derived(state)
        await self._changed(uri, position)

    async def _take(self, uri: str) -> None:
        """Accepts the states made since; an older state is pinned instead, so that a single key does not discard the
        writer's text."""
        if (await self._store.memory.derived_history(uri)) and not (await self.view(uri)).offered:
            raise RunError(
                _("No text was generated after your own text or the pin."),
                _("Nothing was changed."),
                _("Regenerate it first, or pin an earlier state from its history."),
            )
        await self._choose(uri, "take")

    async def _choose(self, uri: str, word: Choice, state: Generation | None = None) -> None:
        try:
            await self._store.memory.choose_derived(uri, word, state)
        except Gone as error:
            history = await self._store.memory.derived_history(uri)
            if state is None or not history:
                raise _nothing(uri) from error
            raise UnknownName(
                _("There is no state {n} of this profile.").format(n=state),
                _("Nothing was changed."),
                _("Its states: {names}").format(
                    names=_(", ").join(dict.fromkeys(str(one.generation) for one in history))
                ),
            ) from error
        await self._changed(uri, 0)

    async def _again(self, uri: str) -> list[BackgroundTask]:
        """A step that requests a further answer; the current one is used until it arrives."""
        view = await self._store.memory.view(None)
        made = await view.made(uri, "L1")
        source = with_sample(digest_of(["again", uri]), sample_of(made.source) + 1 if made else 1)
        if uri.startswith("summaries/") and made is not None:
            return [arc_task(uri, source)]
        chapters = {each.position: each for each in await self._store.book.chapters()}
        if uri.startswith(_CHAPTERS) and made is not None:
            subject = ChapterId(uri.removeprefix(_CHAPTERS))
            return [BackgroundTask(0, kind, subject, source, "waiting", made.position) for kind in ("l1", "l0")]
        chapter = chapters[made.position] if made else await self._newest_chapter(uri)
        return [profile_task(uri, chapter, source)]

    async def _newest_chapter(self, uri: str) -> Chapter:
        """The chapter as of which a missing profile would be made. Raises RunError when it cannot exist."""
        kind, entity = self._kind(uri), await self._queries.entity(uri)
        written = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        fits = kind is not None and (uri.endswith(f"/{BOOK}") if kind.of_book else entity is not None)
        if not fits or not written:
            raise _nothing(uri)
        return written[-1]

    def _kind(self, uri: str) -> ProfileKind | None:
        root, _slash, rest = uri.partition("/")
        name = rest.partition("/")[0]
        return next((kind for kind in self._kinds.all() if root == "profiles" and kind.name == name), None)

    async def _changed(self, uri: str, position: int) -> None:
        kind = uri.split("/")[1] if uri.startswith("profiles/") else uri.split("/")[0]
        texts = await self._queries.summary(uri)
        await self._store.outbox.add(tasks(("knowledge",), uri, digest_of([uri, texts]), position))
        self._base.emit(ProfileUpdated(((kind, await self._queries.title(uri), uri),)))


def _row(kind: str, name: str, derived: Derived, states: Mapping[str, int], title: str) -> ProfileRow:
    return ProfileRow(kind, name, derived.uri, derived.text, derived.position, states[derived.uri], title)


def _nothing(uri: str) -> UnknownName:
    return UnknownName(_("There is nothing at {uri}.").format(uri=clean(uri)), _("Nothing was changed."))

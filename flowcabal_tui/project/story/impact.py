"""The places that depend on a change of the book: found by rule, ticked by the writer, applied and undone at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.impact.moving import early_uses
from flowcabal_tui.agents.impact.renaming import name_places, plan_of, renamed, unmerged
from flowcabal_tui.agents.impact.statements import Lost, lost_statements, same_places
from flowcabal_tui.domain.errors import RunError, UnknownName, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation
from flowcabal_tui.domain.impact import BookChange, ChapterChanged, ChapterMoved, FactChanged, Impact, ImpactRow, Rename
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import META_NAMES, Entity, Evidence
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.domain.run import Quotation, Quote
from flowcabal_tui.domain.story import Relation, Story, StoryRecord, record_uri, wording
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import AFTER_EDIT, AFTER_RENAME, following
from flowcabal_tui.project.memory.steps import Steps
from flowcabal_tui.project.story.impact_choice import chosen, reviewed
from flowcabal_tui.project.story.impact_patches import ImpactPatches
from flowcabal_tui.project.story.impact_receipts import ReceiptEdges, not_listed
from flowcabal_tui.project.story.impact_rows import (
    BookText,
    edits_of,
    entity_row,
    lost_quotation,
    name_row,
    record_doubt,
    record_row,
    renamed_entity,
    reworded,
    title_row,
    use_row,
    value_row,
)
from flowcabal_tui.project.words import META
from flowcabal_tui.protocol.story import ApplyImpact

_LONGEST: Final = 200


class ImpactReviews:
    """Reviews the impact of changes. Lives on the engine's loop; the helper process reads the texts."""

    def __init__(self, base: ProjectBase, steps: Steps) -> None:
        self._base, self._store, self._workshop, self._language = base, base.store, base.workshop, base.language
        self._steps, self._patches, self._receipts = steps, ImpactPatches(base), ReceiptEdges(base)

    async def of(self, change: BookChange) -> Impact:
        """The places that depend on a change, except those that the writer has already settled.

        Raises RunError for an empty change, UnknownName.
        """
        found, words = await self._found(change), await self._store.proposals.place_words()
        rows = [row for row in found.rows if row.key not in words]
        settled = tuple(replace(row, word=words[row.key]) for row in found.rows if row.key in words)
        shown = await self._patches.shown(rows, await self._texts(rows))
        return replace(found, rows=shown, settled=settled, unsaved=await self._unsaved(rows))

    async def _unsaved(self, rows: Sequence[ImpactRow]) -> tuple[Chapter, ...]:
        """The chapters with a place and with unsaved text, in story order."""
        touched = {row.proposal.place.chapter for row in rows if row.proposal.place}
        typed = touched & {draft.chapter for draft in await self._store.drafts.all()}
        return tuple(at for at in await self._store.book.chapters() if at.id in typed) if typed else ()

    async def _found(self, change: BookChange) -> Impact:
        match change:
            case Rename():
                return await self._renamed(_checked(change))
            case ChapterChanged():
                return await self._changed(change)
            case ChapterMoved():
                return await self._moved(change)
            case FactChanged():
                return await self._fact(change)

    async def _renamed(self, change: Rename) -> Impact:
        entities, story = await self._store.memory.names(), await self._story()
        plan = plan_of(change, entities)
        book, metas = await self._book(), await self._metas()
        chapters = await self._store.book.chapters()
        records = [record for record in story.records if any(form in wording(record) for form in plan.forms)]
        noted = (text for each in entities for text in (each.note, *(value for _field, value in each.fields)))
        small = [*(at.title for at in chapters), *noted, *map(wording, records)]
        sources = [*metas, *book]
        texts = [*(each.text for each in sources), *small]
        found = await self._workshop.do(name_places, plan, texts)
        rows = [name_row(sources[place.text], place) for place in found if place.text < len(sources)]
        holding = {texts[place.text] for place in found if place.text >= len(sources) and place.sure}
        other = [title_row(at, renamed(plan, at.title)) for at in chapters if at.title in holding]
        for entity in entities:
            after = renamed_entity(entity, plan, holding)
            if replace(after, by=entity.by) != entity:
                other.append(entity_row(entity, after))
        for record in records:
            if (words := renamed(plan, wording(record))) != wording(record):
                other.append(record_row(record, reworded(record, words)))
        known = {name for entity in entities for name in entity.names}
        taken = tuple(name for name in dict.fromkeys(plan.forms.values()) if name in known and name not in plan.forms)
        named = [entity for entity in entities if change.name in entity.names]
        kept = tuple(name for entity in named for name in entity.names if name not in plan.forms)
        kept += tuple(
            form for form in unmerged(change, entities, (each.text for each in book)) if form not in plan.forms
        )
        return Impact(change, tuple(sorted([*other, *rows], key=lambda row: not row.chosen)), taken=taken, kept=kept)

    async def _changed(self, change: ChapterChanged) -> Impact:
        chapter = await self._base.chapter(change.chapter)
        versions = await self._store.book.versions(chapter.id)
        since = change.since or max(1, chapter.version - 1)
        if since >= chapter.version:
            raise UnknownName(_("The chapter has no version {n}.").format(n=since), _("Nothing was changed."))
        before, after = [await self._store.book.text(chapter.id, number) for number in (since, chapter.version)]
        entities = await self._store.memory.names()
        lost = await self._workshop.do(lost_statements, before, after, entities, self._language)
        if not lost:
            return Impact(change, is_same=True)
        source = BookText(chapter.id, chapter.position, chapter.title, before, since)
        following_one = next(each for each in reversed(versions) if each.version == since + 1)
        generation = Generation(following_one.generation - 1)
        story = await (await self._store.memory.view(None, generation)).story()
        quoting = [
            (record, one)
            for record in story.records
            for one in lost
            if any(each.chapter == chapter.id and _overlaps(each, one, before) for each in record.evidence)
        ]
        rows = [_record(record, one, lost_quotation(source, one)) for record, one in dict(quoting).items()]
        records = {record_uri(record): one for record, one in quoting}
        return Impact(change, (*rows, *await self._same(lost, source, entities, records)))

    async def _fact(self, change: FactChanged) -> Impact:
        record = next((each for each in (await self._story()).records if each.id == change.record), None)
        words = clean_line(change.text)
        if record is None or not words:
            raise UnknownName(_("There is no such record: {id}.").format(id=change.record), _("Nothing was changed."))
        about = _about(record)
        entities, before = await self._store.memory.names(), wording(record)
        lost = await self._workshop.do(lost_statements, before, words, entities, self._language, about)
        own = [record_row(record, reworded(record, words))] if words != before else []
        if not lost:
            return Impact(change, tuple(own), is_same=True)
        source = BookText(f"records/{record.id}", 0, "", before, 0)
        uris = {record_uri(record): lost[0]}
        return Impact(change, (*own, *await self._same(lost, source, entities, uris)))

    async def _same(
        self, lost: Sequence[Lost], source: BookText, entities: Sequence[Entity], records: Mapping[str, Lost]
    ) -> list[ImpactRow]:
        """Places that state the same, then chapters whose contexts contained it; `records` depend on it too, by uri."""
        book = await self._book()
        texts = [each.text for each in book]
        found = await self._workshop.do(same_places, lost, texts, tuple(entities), self._language)
        rows = [value_row(book[place.text], place, lost_quotation(source, place.lost)) for place in found]
        newest = list({row.proposal.id: row for row in reversed(rows)}.values())[::-1]
        given = await self._receipts.of(lost, source, records, book, entities)
        return [*newest, *not_listed(given, newest)]

    async def _moved(self, change: ChapterMoved) -> Impact:
        chapter = await self._base.chapter(change.moved)
        origin = change.origin or chapter.position
        book = await self._book()
        at = {each.subject: number for number, each in enumerate(book)}
        if chapter.id not in at:
            return Impact(change, is_same=True)
        target = max(1, min(change.position, len(await self._store.book.chapters())))
        crossed = [at[each.id] for each in await self._crossed(chapter, origin, target) if each.id in at]
        moved, before = at[chapter.id], min((at[chapter.id], *crossed))
        using, telling = (crossed, [moved]) if target > origin else ([moved], crossed)
        order = [number for number in range(len(book)) if number not in {moved, *crossed}]
        earlier = [number for number in order if number < before]
        texts = [book[number].text for number in (*earlier, moved, *crossed, *(n for n in order if n > before))]
        place = {number: at for at, number in enumerate((*earlier, moved, *crossed))}
        back = {at: number for number, at in place.items()}
        found = await self._workshop.do(
            early_uses, texts, [place[n] for n in using], [place[n] for n in telling], len(earlier),
            await self._store.memory.names(), self._language,
        )  # fmt: skip
        rows = [use_row(book[back[use.text]], book[back[use.introduced]], use) for use in found]
        given = await self._receipts.moved(
            [book[n] for n in using], [book[n] for n in telling], await self._store.memory.names()
        )
        rows += not_listed(given, rows)
        return Impact(change, tuple(rows), is_same=not rows)

    async def _crossed(self, chapter: Chapter, origin: int, target: int) -> list[Chapter]:
        """The chapters whose order relative to this one the move changes, wherever it is now."""
        others = [each for each in await self._store.book.chapters() if each.id != chapter.id]
        first, last = sorted((origin, target))
        return others[first - 1 : last - 1]

    async def quote_patches(self, change: BookChange, places: Sequence[str]) -> Quote:
        """The price of patches by the user's model, for these places (none given: for all that no rule can change).

        Raises RunError if there are no such places, ModelError without a model.
        """
        return await self._patches.quote(*await self._asking(change, places))

    async def ask_patches(self, change: BookChange, places: Sequence[str]) -> int:
        """Requests the patches; returns the number of answers that could not be read. Raises RunError, ModelError,
        BudgetExceeded."""
        return await self._patches.ask(*await self._asking(change, places))

    async def _asking(self, change: BookChange, places: Sequence[str]) -> tuple[list[ImpactRow], Mapping[str, str]]:
        rows = [row for row in (await self.of(change)).rows if row.asks and (not places or row.proposal.id in places)]
        rows = [row for row in rows if row.answer == "decide"]
        if not rows:
            raise RunError(_("There is no place that a model could patch."), _("Nothing was sent."))
        return rows, await self._texts(rows)

    async def _texts(self, rows: Sequence[ImpactRow]) -> Mapping[str, str]:
        """The texts of the chapters with a place about which a model can be asked."""
        chapters = {row.proposal.place.chapter for row in rows if row.asks and row.proposal.place}
        return {chapter: await self._store.book.text(chapter) for chapter in sorted(chapters)}

    async def apply(self, command: ApplyImpact) -> Proposal:
        """Writes the ticked rows and the writer's decisions in one transaction; returns the proposal by which it is
        undone.

        Raises VersionConflict when the rows no longer have the digest, RunError.
        """
        impact = await self.of(command.change)
        if impact.digest != command.digest:
            raise VersionConflict(
                _("The book was changed in the meantime."), _("Nothing was changed."), _("Review the places again.")
            )
        choice = chosen(impact, command)
        if choice.is_empty:
            raise RunError(_("No place is chosen."), _("Nothing was changed."))
        edits = edits_of(choice.patches)
        texts = (*await self._metas(), *await self._book(edits))
        known = {each.subject: each for each in texts if each.subject in edits}
        if unsaved := [known[each.chapter].title for each in await self._store.drafts.all() if each.chapter in known]:
            raise RunError(
                _("{titles}: there is unsaved text.").format(titles=_(", ").join(unsaved)),
                _("Nothing was changed."),
                _("Save it first."),
            )
        entities = await self._store.memory.names()
        model, now = self._base.models.name("user"), self._base.clock()
        new = reviewed(impact.change, choice, known, entities, model, now)
        changed = [after for _before, after in new.entities]
        new = replace(new, tasks=await self._steps.after_names(changed) if changed else ())
        kinds = AFTER_RENAME if isinstance(impact.change, Rename) else AFTER_EDIT
        return await self._store.proposals.apply(new, following(kinds))

    async def _story(self) -> Story:
        return await (await self._store.memory.view(None)).story()

    async def _book(self, wanted: Collection[str] | None = None) -> list[BookText]:
        """The written chapters (None: all), in story order."""
        chapters = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        chapters = [chapter for chapter in chapters if wanted is None or chapter.id in wanted]
        texts = await self._store.journal.texts(tuple({chapter.digest for chapter in chapters if chapter.digest}))
        return [
            BookText(each.id, each.position, each.title, texts[each.digest], each.version)
            for each in chapters
            if each.digest
        ]

    async def _metas(self) -> list[BookText]:
        found = []
        for name in META_NAMES:
            versions = await self._store.book.versions(ChapterId(f"meta/{name}"))
            if versions and (text := await self._store.book.meta_text(name)):
                found.append(BookText(f"meta/{name}", 0, _(META[name]), text, versions[0].version))
        return found


def _checked(change: Rename) -> Rename:
    """The change with its names on one line each. Raises RunError for a name that is empty, too long or unchanged."""
    name, to = clean_line(change.name), clean_line(change.to)
    pairs = tuple((clean_line(old), clean_line(new)) for old, new in change.aliases)
    every = [name, to, *(each for pair in pairs for each in pair)]
    if not all(0 < len(each) <= _LONGEST for each in every) or name == to:
        raise RunError(
            _("A rename needs an old and another new name."), _("Nothing was changed."), _("Write both names.")
        )
    return Rename(name, to, pairs)


def _about(record: StoryRecord) -> frozenset[EntityId]:
    return frozenset((record.source, record.target) if isinstance(record, Relation) else record.about)


def _overlaps(evidence: Evidence, lost: Lost, text: str) -> bool:
    start = evidence.start if text.startswith(evidence.sentence, evidence.start) else text.find(evidence.sentence)
    return start >= 0 and start < lost.end and lost.start < start + len(evidence.sentence)


def _record(record: StoryRecord, lost: Lost, source: Quotation) -> ImpactRow:
    """The row of a record: with the new value if a rule can insert it, else for the writer to decide."""
    words, value = wording(record), lost.values[0].words
    if lost.instead is not None and value in words:
        return record_row(record, reworded(record, words.replace(value, lost.instead.words)))
    return record_doubt(record, source)

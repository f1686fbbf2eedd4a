"""The kinds of profile: one folder each, with `kind.toml` and `prompt.md`; a project adds its own the same way.

`<project>/profiles/<kind>/` has the same files; a folder with the name of a built-in kind replaces it. A fault in one
does not affect the others. `prompt.<language>.md`, where there is one, is read for books in that language.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from flowcabal_tui.domain.context import SceneKind
from flowcabal_tui.domain.errors import Gone, SettingsError
from flowcabal_tui.domain.ids import Digest, EntityId
from flowcabal_tui.domain.memory import EntityKind
from flowcabal_tui.domain.text import clean, digest_of, slug
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, language_in_use
from flowcabal_tui.settings.file_text import read_toml
from flowcabal_tui.system.files import Folder

BOOK: Final = "book"
"""The subject, and the last part of the uri, of a profile of the whole book."""
_SETTINGS: Final = "kind.toml"
_PROMPT: Final = "prompt.md"
_MOST_PROMPT: Final = 20_000
_LARGEST: Final = 1024 * 1024
Scenes = tuple[SceneKind | Literal["*"], ...]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Line = Annotated[str, AfterValidator(lambda text: " ".join(clean(text).split()))]


class Titles(_Table):
    """The title of a kind, by language of the screen."""

    en: Line = Field(min_length=1, max_length=60)
    zh: Line = Field("", max_length=60)


class Words(_Table):
    """Words that mark relevant passages, by language of the book."""

    en: tuple[Line, ...] = Field((), max_length=60)
    zh: tuple[Line, ...] = Field((), max_length=60)


class KindFile(_Table):
    """`kind.toml`."""

    title: Titles
    subject: EntityKind | Literal["book"]
    scenes: Scenes = Field((), description="Kinds of scene whose prompts read it; of entities: of those in the scene.")
    everyone: Scenes = Field((), description="Kinds of scene whose prompts read all of them at L0.")
    level: Literal["L0", "L1"] = Field("L1", description="The highest level that prompts read.")
    tokens: int = Field(2_400, ge=200, le=20_000, description="Of passages, for making one profile.")
    sentences: int = Field(8, ge=1, le=40, description="Of a profile that is taken from the text.")
    spread: bool = Field(False, description="From the whole story instead of its end.")
    every: int = Field(1, ge=1, description="Chapters from one state to the next.")
    entities: tuple[EntityKind, ...] = Field((), description="Of the book: their names find passages too.")
    words: Words = Words()


@dataclass(frozen=True, slots=True)
class ProfileKind:
    """A kind of profile. `prompts` are by language; "" is used for languages without their own."""

    name: str
    settings: KindFile
    prompts: tuple[tuple[str, str], ...]

    @property
    def of_book(self) -> bool:
        return self.settings.subject == BOOK

    @property
    def title(self) -> str:
        """The title in the language of the screen."""
        return self.title_in(language_in_use())

    def title_in(self, language: str) -> str:
        """The title of the kind in this language."""
        titles = self.settings.title
        return titles.zh if language.startswith("zh") and titles.zh else titles.en

    def uri(self, subject: EntityId | None) -> str:
        """`profiles/<kind>/<entity>`, or `profiles/<kind>/book`."""
        return f"profiles/{self.name}/{BOOK if subject is None else subject}"

    def is_read_in(self, scene: SceneKind) -> bool:
        return "*" in self.settings.scenes or scene in self.settings.scenes

    def is_read_whole_in(self, scene: SceneKind) -> bool:
        """True when all profiles of this kind are read in such a scene, whoever is in it."""
        return "*" in self.settings.everyone or scene in self.settings.everyone

    def prompt(self, language: str) -> str:
        """The instruction of the kind, for a book in this language."""
        texts = dict(self.prompts)
        return texts.get(language[:2], texts[""])

    def words(self, language: str) -> tuple[str, ...]:
        """The words that mark relevant passages."""
        return self.settings.words.zh if language.startswith("zh") else self.settings.words.en

    def digest(self, language: str) -> Digest:
        """Digest of everything that determines how a profile is made."""
        made_by = self.settings.model_dump(mode="json", include={"tokens", "sentences", "spread", "entities"})
        return digest_of([self.prompt(language), made_by, self.words(language)])


class ProfileKinds:
    """The kinds that currently exist, built-in ones first."""

    def __init__(self, project_folder: Path | None = None, permit: Callable[[ProfileKind], None] | None = None) -> None:
        """`project_folder` has the writer's own kinds, one folder each; it need not exist.

        `permit` is called with each of them before its prompt is used; it raises ModelError for one that the user has
        not confirmed.
        """
        self._folder, self._permit = project_folder, permit

    def all(self) -> tuple[ProfileKind, ...]:
        """The readable kinds."""
        return tuple(kind for kind in self._read().values() if isinstance(kind, ProfileKind))

    def problems(self) -> tuple[SettingsError, ...]:
        """The errors in the writer's own kinds, one for each folder."""
        return tuple(kind for kind in self._read().values() if isinstance(kind, SettingsError))

    def own(self) -> tuple[ProfileKind, ...]:
        """The kinds of the project's folder that can be read, whether they may be used or not."""
        read = self._read()
        names = {folder.name for folder in self._own_folders()}
        return tuple(kind for name in sorted(names) if isinstance(kind := read[name], ProfileKind))

    def get(self, name: str) -> ProfileKind:
        """A kind whose prompt is about to be used.

        Raises Gone for an unknown kind, SettingsError for an unreadable one, ModelError(NOT_CONFIRMED) for one of the
        project that the user has not confirmed.
        """
        found = self._read().get(name)
        if found is None:
            raise Gone(name)
        if isinstance(found, SettingsError):
            raise found
        if self._permit is not None and found not in _ours():
            self._permit(found)
        return found

    def _read(self) -> Mapping[str, ProfileKind | SettingsError]:
        found: dict[str, ProfileKind | SettingsError] = {kind.name: kind for kind in _ours()}
        for folder in self._own_folders():
            try:
                found[folder.name] = _load(folder)
            except SettingsError as error:
                found[folder.name] = error
        return found

    def _own_folders(self) -> Iterator[_KindFolder]:
        """The kinds' folders in the project, which may come from a stranger; links are ignored."""
        if self._folder is not None:
            project, kinds = Folder(self._folder.parent), self._folder.name
            for name in (each for each in project.folders(kinds) if each[0] not in "._"):
                text = partial(project.text, kinds, name, limit=_LARGEST)
                yield _KindFolder(name, partial(project.is_there, kinds, name), text)


@cache
def _ours() -> tuple[ProfileKind, ...]:
    folders = [each for each in files(__name__).iterdir() if each.is_dir() and (each / _SETTINGS).is_file()]
    kinds = [_load(_our_folder(each)) for each in folders]
    return tuple(sorted(kinds, key=lambda kind: (kind.of_book, kind.settings.every, kind.name)))


@dataclass(frozen=True, slots=True)
class _KindFolder:
    """The files of one kind; `text` raises OSError or UnicodeDecodeError."""

    name: str
    has: Callable[[str], bool]
    text: Callable[[str], str]


def _our_folder(folder: Traversable) -> _KindFolder:
    return _KindFolder(
        folder.name,
        lambda file: (folder / file).is_file(),
        lambda file: (folder / file).read_text(encoding="utf-8"),
    )


def _load(folder: _KindFolder) -> ProfileKind:
    """Loads a kind. Raises SettingsError with the file and the error in it."""
    if slug(folder.name) != folder.name:
        raise _wrong(folder.name, _("a folder's name has letters, digits, - and _ only"))
    try:
        settings = KindFile.model_validate(read_toml(_text(folder, _SETTINGS)))
    except tomllib.TOMLDecodeError as error:
        raise _wrong(f"{folder.name}/{_SETTINGS}", str(error)) from error
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False))
        raise _wrong(f"{folder.name}/{_SETTINGS}", "; ".join(problems)) from error
    prompts = {"": _text(folder, _PROMPT)}
    for language in ("en", "zh"):
        if folder.has(own := f"prompt.{language}.md"):
            prompts[language] = _text(folder, own)
    if not all(text.strip() for text in prompts.values()):
        raise _wrong(f"{folder.name}/{_PROMPT}", _("it is empty; it must describe what to write"))
    return ProfileKind(folder.name, settings, tuple(prompts.items()))


def _text(folder: _KindFolder, name: str) -> str:
    try:
        text = folder.text(name)
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(f"{folder.name}/{name}", str(error)) from error
    if len(text) > _MOST_PROMPT:
        raise _wrong(f"{folder.name}/{name}", _("it is longer than {n} characters").format(n=_MOST_PROMPT))
    return clean(text)


def _wrong(where: str, why: str) -> SettingsError:
    return SettingsError(
        _("A kind of profile cannot be used: {folder}").format(folder=clean(where)),
        clean(why),
        _("Correct the files in the project's folder profiles, or delete that folder; the other kinds work."),
    )

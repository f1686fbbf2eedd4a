"""Whatever a file is, reading it ends in the limits of the helper process: with a book or with one typed sentence."""

from __future__ import annotations

import errno
import io
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import ImportPreview
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.project.workshop import READING, Workshop
from tests.manuscript.damaged import DOCX, EPUB, LARGE, PARAGRAPH, good, mutations
from tests.manuscript.packages import docx

CASES = [(".docx", name, make) for name, make in DOCX.items()] + [(".epub", name, make) for name, make in EPUB.items()]


HEAVY = [case for case in CASES if case[1] in LARGE]
LIGHT = [case for case in CASES if case[1] not in LARGE]


def named(case: tuple[str, str, Callable[[bytes], bytes]]) -> str:
    return f"{case[1]}{case[0]}"


def check(error: ManuscriptError, file: Path) -> None:
    assert file.name in error.title and "\n" not in error.title
    assert error.advice


@pytest.fixture
async def workshop() -> AsyncIterator[Workshop]:
    made = Workshop()
    yield made
    await made.close()


@pytest.mark.parametrize("case", LIGHT, ids=named)
def test_a_damaged_file_is_refused_in_one_sentence(
    tmp_path: Path, case: tuple[str, str, Callable[[bytes], bytes]]
) -> None:
    suffix, name, make = case
    file = tmp_path / f"{name}{suffix}"
    file.write_bytes(make(good(tmp_path, suffix)))
    with pytest.raises(ManuscriptError) as caught:
        read_manuscript(file)
    check(caught.value, file)


@pytest.mark.parametrize("case", HEAVY, ids=named)
async def test_a_file_that_would_take_too_much_is_refused_within_the_limits_of_the_helper(
    tmp_path: Path, workshop: Workshop, case: tuple[str, str, Callable[[bytes], bytes]]
) -> None:
    suffix, name, make = case
    file = tmp_path / f"{name}{suffix}"
    file.write_bytes(make(good(tmp_path, suffix)))
    with pytest.raises(ManuscriptError) as caught:
        await workshop.do(read_manuscript, file, limits=READING)
    check(caught.value, file)


@pytest.mark.parametrize("suffix", [".docx", ".epub"])
def test_a_file_with_random_damage_is_read_or_refused(tmp_path: Path, suffix: str) -> None:
    file, outcomes = tmp_path / f"damaged{suffix}", set[type]()
    for data in mutations(good(tmp_path, suffix), 400):
        file.write_bytes(data)
        try:
            outcomes.add(type(read_manuscript(file)))
        except ManuscriptError as error:
            outcomes.add(type(error))
    assert outcomes == {ImportPreview, ManuscriptError}


@pytest.mark.parametrize("suffix", [".docx", ".epub"])
def test_xml_with_random_damage_is_read_or_refused(tmp_path: Path, suffix: str) -> None:
    """The archive is sound, so the damage reaches the readers behind it."""
    with zipfile.ZipFile(io.BytesIO(good(tmp_path, suffix))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    file, outcomes = tmp_path / f"damaged{suffix}", set[type]()
    for part, content in parts.items():
        for data in mutations(content, 40):
            with zipfile.ZipFile(file, "w") as archive:
                for name, whole in parts.items():
                    archive.writestr(name, data if name == part else whole)
            try:
                outcomes.add(type(read_manuscript(file)))
            except ManuscriptError as error:
                outcomes.add(type(error))
    assert outcomes == {ImportPreview, ManuscriptError}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "gb18030"])
def test_xml_in_another_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    with zipfile.ZipFile(docx(tmp_path / "a.docx", PARAGRAPH)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    text = parts["word/document.xml"].decode().replace('encoding="UTF-8"', f'encoding="{encoding}"')
    parts["word/document.xml"] = text.encode(encoding)
    with zipfile.ZipFile(tmp_path / "b.docx", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert read_manuscript(tmp_path / "b.docx").chapters[0].text == "他推开门，雪落了一地。"


TEXTS: dict[str, Callable[[], bytes]] = {
    "100-mb-in-one-line": lambda: "雪".encode() * 33_400_000,
    "100-mb-of-empty-lines": lambda: b"\n" * 100_000_000,
    "a-million-lines": lambda: b"1\n" * 1_000_002,
}


@pytest.mark.parametrize("name", TEXTS)
async def test_a_text_that_is_too_long_is_refused(tmp_path: Path, workshop: Workshop, name: str) -> None:
    file = tmp_path / "long.txt"
    file.write_bytes(TEXTS[name]())
    with pytest.raises(ManuscriptError, match=r"long\.txt"):
        await workshop.do(read_manuscript, file, limits=READING)


@pytest.mark.parametrize("name", ["雪" * 100, "one\0two.txt", "a/" * 3000 + "b"], ids=("long", "zero", "deep"))
def test_a_name_that_no_file_can_have_is_told_like_a_missing_file(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    with pytest.raises(ManuscriptError, match="cannot be read") as told:
        read_manuscript(file)
    check(told.value, file)


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> Iterator[Path]:
        raise PermissionError(errno.EACCES, "no", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(ManuscriptError, match="cannot be read") as told:
        read_manuscript(tmp_path)
    check(told.value, tmp_path)

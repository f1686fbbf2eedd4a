"""Bytes of novels: every usual encoding, and what is told when something is odd."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.manuscript.encoding import decode
from flowcabal_tui.manuscript.reader import read_manuscript

ZH = "他推开门，雪落了一地。\n她没有回头，只说了一句：“走吧。”\n" * 20
TRADITIONAL = "他推開門，雪落了一地。\n她沒有回頭，只說了一句：「走吧。」\n" * 20


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "gb18030"],
)
def test_usual_encodings_are_read_without_a_warning(encoding: str) -> None:
    file = decode(ZH.encode(encoding), "a.txt")
    assert (file.text, file.warning) == (ZH, "")


def test_big5_is_told_from_gb18030() -> None:
    file = decode(TRADITIONAL.encode("big5"), "a.txt")
    assert (file.text, file.encoding, file.warning) == (TRADITIONAL, "big5hkscs", "")


@pytest.mark.parametrize(("second", "encoding"), [(ZH, "gb18030"), (TRADITIONAL, "big5")])
def test_a_file_joined_from_two_encodings_is_read_line_by_line_and_told(second: str, encoding: str) -> None:
    file = decode(f"第一章\n{ZH}".encode() + f"第二章\n{second}".encode(encoding), "joined.txt")
    assert file.text == f"第一章\n{ZH}第二章\n{second}"
    assert "joined.txt" in file.warning and "utf-8" in file.warning


def test_damaged_characters_are_counted_and_their_line_is_told() -> None:
    lines = [*(ZH * 20).encode("gb18030").split(b"\n"), "走吧".encode("gb18030")[:3] + b"\xff", b""]
    file = decode(b"\n".join(lines), "hurt.txt")
    assert file.encoding == "gb18030"
    assert "hurt.txt" in file.warning and str(len(lines) - 1) in file.warning


def test_an_encoding_that_is_only_a_guess_is_told() -> None:
    assert "cp1252" in decode("She said “come in” to Zoë.\n".encode("cp1252") * 9, "a.txt").warning


def test_a_folder_in_more_than_one_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_bytes(ZH.encode())
    (tmp_path / "2.txt").write_bytes(ZH.encode("gb18030"))
    preview = read_manuscript(tmp_path)
    assert [chapter.text for chapter in preview.chapters] == [ZH.strip()] * 2
    assert preview.encoding == "gb18030, utf-8"
    assert any("encoding" in warning for warning in preview.warnings)


def test_folders_are_volumes_and_a_file_of_many_chapters_is_one_too(tmp_path: Path) -> None:
    for name in ("下卷/第十章.txt", "上卷/第九章.txt", "上卷/第二章.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(ZH, encoding="utf-8")
    (tmp_path / "番外集.txt").write_text(f"第一章 雪\n{ZH}第二章 月\n{ZH}", encoding="utf-8")
    chapters = read_manuscript(tmp_path).chapters
    assert [(c.volume, c.title) for c in chapters] == [
        ("上卷", "第二章"),
        ("上卷", "第九章"),
        ("下卷", "第十章"),
        ("番外集", "第一章 雪"),
        ("番外集", "第二章 月"),
    ]


def test_numbered_scenes_in_a_file_of_one_chapter_are_its_text(tmp_path: Path) -> None:
    (tmp_path / "第一章.txt").write_text("".join(f"{n}\n{ZH}" for n in (1, 2, 3)), encoding="utf-8")
    assert [chapter.title for chapter in read_manuscript(tmp_path).chapters] == ["第一章"]

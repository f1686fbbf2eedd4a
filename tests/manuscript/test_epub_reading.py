"""EPUB 2 and 3 of other programs: order, titles, volumes, notes, and a report of what was met."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.manuscript.reader import read_manuscript
from tests.manuscript.packages import epub, zipped

TEXT = "<p>他推开门，雪落了一地。</p><p>没有人说话。</p>"


def nav(*lines: str) -> str:
    return f'<nav epub:type="toc"><ol>{"".join(lines)}</ol></nav>'


def line(href: str, title: str, inside: str = "") -> str:
    return f'<li><a href="{href}">{title}</a>{inside}</li>'


def test_the_order_is_that_of_the_spine_and_names_may_be_encoded(tmp_path: Path) -> None:
    pages = {
        "z%20one.xhtml": f"<body><h1>第一章 雪</h1>{TEXT}</body>",
        "a.xhtml": f"<body><h1>第二章 灯</h1>{TEXT}</body>",
    }
    chapters = read_manuscript(epub(tmp_path / "b.epub", pages)).chapters
    assert [one.title for one in chapters] == ["第一章 雪", "第二章 灯"]


def test_a_heading_that_is_too_long_for_a_title_is_text(tmp_path: Path) -> None:
    long = "雪" * 100_000
    pages = {"a.xhtml": f"<body><h1>第一章 雪</h1><h1>{long}</h1>{TEXT}</body>"}
    (chapter,) = read_manuscript(epub(tmp_path / "b.epub", pages)).chapters
    assert chapter.title == "第一章 雪" and chapter.text.startswith(long)


def test_a_first_line_that_is_too_long_is_no_title_of_a_file_in_a_folder(tmp_path: Path) -> None:
    long = "# " + "x" * 100_000
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(f"{long}\n\nSnow.", encoding="utf-8")
    chapters = read_manuscript(tmp_path).chapters
    assert [one.title for one in chapters] == ["one", "two"] and chapters[0].text.startswith(long)


def test_titles_come_from_the_contents_where_pages_have_none(tmp_path: Path) -> None:
    pages = {f"{n}.xhtml": f"<body>{TEXT}</body>" for n in "123"}
    preview = read_manuscript(
        epub(tmp_path / "b.epub", pages, nav=nav(*(line(f"{n}.xhtml", f"Part {n} of it") for n in "123")))
    )
    assert [one.title for one in preview.chapters] == ["Part 1 of it", "Part 2 of it", "Part 3 of it"]
    assert preview.report.rule == "contents"


def test_an_ncx_gives_titles_and_volumes(tmp_path: Path) -> None:
    def point(title: str, src: str, inside: str = "") -> str:
        return f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{src}"/>{inside}</navPoint>'

    pages = {f"{n}.xhtml": f"<body>{TEXT}</body>" for n in "1234"}
    ncx = "".join(
        point(volume, f"{first}.xhtml#v", "".join(point(f"第{n}章 雪", f"{n}.xhtml") for n in rest))
        for volume, first, rest in (("第一卷 风起", "1", "12"), ("第二卷 云涌", "3", "34"))
    )
    chapters = read_manuscript(epub(tmp_path / "b.epub", pages, ncx=ncx)).chapters
    assert [(one.volume, one.title) for one in chapters] == [
        ("第一卷 风起", "第1章 雪"),
        ("第一卷 风起", "第2章 雪"),
        ("第二卷 云涌", "第3章 雪"),
        ("第二卷 云涌", "第4章 雪"),
    ]


def test_several_chapters_of_one_file_are_parted_at_their_anchors(tmp_path: Path) -> None:
    body = f'<body><div id="a"><p>第一章</p>{TEXT}</div><div id="b"><h3>第二章</h3>{TEXT}</div></body>'
    contents = nav(line("1.xhtml#a", "第一章"), line("1.xhtml#b", "第二章"))
    chapters = read_manuscript(epub(tmp_path / "b.epub", {"1.xhtml": body}, nav=contents)).chapters
    assert [(one.title, one.text.split("\n\n")[0]) for one in chapters] == [
        ("第一章", "他推开门，雪落了一地。"),
        ("第二章", "他推开门，雪落了一地。"),
    ]


def test_a_chapter_over_several_files_stays_one(tmp_path: Path) -> None:
    pages = {f"{n}.xhtml": f"<body>{TEXT}</body>" for n in "1234"}
    contents = nav(line("1.xhtml", "The Salt Ledger"), line("3.xhtml", "The Ferry"))
    chapters = read_manuscript(epub(tmp_path / "b.epub", pages, nav=contents)).chapters
    assert [(one.title, one.text.count("推开门")) for one in chapters] == [("The Salt Ledger", 2), ("The Ferry", 2)]


def test_headings_inside_a_chapter_of_the_contents_are_text(tmp_path: Path) -> None:
    pages = {f"{n}.xhtml": f"<body><h1>The Day {n}</h1>{TEXT}<h2>Evening</h2>{TEXT}</body>" for n in "12"}
    contents = nav(*(line(f"{n}.xhtml", f"The Day {n}") for n in "12"))
    chapters = read_manuscript(epub(tmp_path / "b.epub", pages, nav=contents)).chapters
    assert [one.title for one in chapters] == ["The Day 1", "The Day 2"]
    assert "Evening" in chapters[0].text


def test_contents_that_list_only_volumes_do_not_hide_the_chapters(tmp_path: Path) -> None:
    pages = {
        f"{v}.xhtml": f"<body><h1>卷{v}</h1>" + "".join(f"<h2>第{n}章 雪</h2>{TEXT}" for n in "一二三") + "</body>"
        for v in "一二"
    }
    contents = nav(*(line(f"{v}.xhtml", f"卷{v}") for v in "一二"))
    chapters = read_manuscript(epub(tmp_path / "b.epub", pages, nav=contents)).chapters
    assert [(one.volume, one.title) for one in chapters][::3] == [("卷一", "第一章 雪"), ("卷二", "第一章 雪")]
    assert len(chapters) == 6


def test_a_note_stands_once_where_it_is_referred_to(tmp_path: Path) -> None:
    pages = {
        "1.xhtml": '<body><h1>第一章 雪</h1><p>他去了江口<a epub:type="noteref" href="#n1">1</a>。</p>'
        '<p>又去了<a epub:type="noteref" href="#n1">1</a>。</p>'
        '<p>问了盐官<a epub:type="noteref" href="notes.xhtml#n2">2</a>。</p>'
        '<aside epub:type="footnote" id="n1"><p><a href="#r1">1</a> 今称渡口。</p></aside></body>',
        "2.xhtml": f"<body><h1>第二章 灯</h1>{TEXT}</body>",
        "notes.xhtml": '<body><ol><li epub:type="endnote" id="n2"><p>掌盐税的官。</p></li></ol></body>',
    }
    preview = read_manuscript(epub(tmp_path / "b.epub", pages))
    text = "\n".join(one.text for one in preview.chapters)
    assert "江口〔今称渡口。〕。" in text and "又去了。" in text and "盐官〔掌盐税的官。〕。" in text
    assert text.count("今称渡口") == text.count("掌盐税") == 1
    assert preview.report.notes == 2


def test_italics_are_counted(tmp_path: Path) -> None:
    page = "<body><h1>One</h1><p>She read <i>The Ferryman</i> <em>again</em>.</p></body>"
    assert read_manuscript(epub(tmp_path / "b.epub", {"a.xhtml": page})).report.italics == 2


def test_ruby_is_dropped_and_pictures_and_tables_are_counted(tmp_path: Path) -> None:
    body = (
        "<body><h1>第一章 雪</h1><p><ruby>雪<rp>(</rp><rt>xuě</rt><rp>)</rp></ruby>落了。<img src='a.png' alt='x'/></p>"
        "<table><tr><td>甲</td><td>乙</td></tr></table></body>"
    )
    preview = read_manuscript(epub(tmp_path / "b.epub", {"1.xhtml": body}))
    assert preview.chapters[0].text.split("\n\n") == ["雪落了。", "甲\t乙"]
    assert (preview.report.ruby, preview.report.pictures, preview.report.tables) == (1, 1, 1)


def test_covers_and_title_pages_are_left_out_and_counted(tmp_path: Path) -> None:
    pages = {
        "c.xhtml": '<body epub:type="cover"><p>盐账</p></body>',
        "t.xhtml": '<body><section epub:type="titlepage"><h1>盐账</h1></section></body>',
        "g.xhtml": "<body><p>版权所有</p></body>",
        "1.xhtml": f"<body><h1>第一章 雪</h1>{TEXT}</body>",
        "2.xhtml": f"<body><h1>第二章 雪</h1>{TEXT}</body>",
    }
    guide = '<reference type="title-page" href="g.xhtml"/>'
    preview = read_manuscript(epub(tmp_path / "b.epub", pages, guide=guide))
    assert [one.title for one in preview.chapters] == ["第一章 雪", "第二章 雪"]
    assert preview.report.pages_left_out == 3


def test_a_page_that_is_missing_is_reported(tmp_path: Path) -> None:
    pages = {"1.xhtml": f"<body><h1>第一章 雪</h1>{TEXT}</body>", "gone.xhtml": "<body/>"}
    with zipfile.ZipFile(epub(tmp_path / "b.epub", pages)) as whole:
        parts = {name: whole.read(name) for name in whole.namelist() if "gone" not in name}
    assert read_manuscript(zipped(tmp_path / "less.epub", parts)).report.pages_missing == 1


def test_old_pages_with_a_doctype_entities_and_another_encoding_are_read(tmp_path: Path) -> None:
    old = (
        '<?xml version="1.0" encoding="gb2312"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://x/xhtml11.dtd">'
        "<html><body><h2>第一章 雪</h2><p>雪&nbsp;&mdash;落了&#12290;<br>没有人</p></body></html>"
    )
    with zipfile.ZipFile(epub(tmp_path / "b.epub", {"1.xhtml": "<body/>"})) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    file = zipped(tmp_path / "old.epub", parts | {"OPS/1.xhtml": old.encode("gb2312")})
    (chapter,) = read_manuscript(file).chapters
    assert chapter.title == "第一章 雪" and chapter.text.split("\n\n") == ["雪\xa0—落了。", "没有人"]


def test_a_copy_protected_book_is_refused_and_mangled_fonts_are_not(tmp_path: Path) -> None:
    pages = {"1.xhtml": f"<body><h1>第一章 雪</h1>{TEXT}</body>"}

    def encryption(algorithm: str) -> dict[str, str | bytes]:
        return {
            "META-INF/encryption.xml": '<encryption xmlns:e="x"><e:EncryptedData>'
            f'<e:EncryptionMethod Algorithm="{algorithm}"/></e:EncryptedData></encryption>'
        }

    fonts = epub(tmp_path / "f.epub", pages, extra=encryption("http://www.idpf.org/2008/embedding"))
    assert read_manuscript(fonts).chapters
    with pytest.raises(ManuscriptError, match="copy-protected"):
        read_manuscript(
            epub(tmp_path / "d.epub", pages, extra=encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc"))
        )


def test_a_book_of_pictures_is_said_to_have_no_text(tmp_path: Path) -> None:
    with pytest.raises(ManuscriptError, match="no text"):
        read_manuscript(epub(tmp_path / "b.epub", {"1.xhtml": '<body><img src="1.png" alt=""/></body>'}))

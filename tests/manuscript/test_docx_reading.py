"""DOCX of Word, WPS and others: no text is lost, nothing is dropped without a count."""

from __future__ import annotations

import io
from pathlib import Path

import docx as python_docx
import pytest

from flowcabal_tui.domain.manuscript import ImportPreview
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.manuscript.report import report_lines
from tests.manuscript.packages import STRICT, docx


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def para(text: str = "", *, style: str = "", properties: str = "", inside: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{run(text) if text else ''}{inside}</w:p>"


def read(folder: Path, body: str, **options: object) -> ImportPreview:
    return read_manuscript(docx(folder / "稿.docx", body, **options))  # type: ignore[arg-type]  # passed on


def text_of(preview: ImportPreview) -> str:
    return "\n".join(f"{one.title}\n{one.text}" for one in preview.chapters)


STYLES = (
    '<w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="Normal"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/><w:basedOn w:val="a"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="mine"><w:name w:val="我的章名"/><w:basedOn w:val="1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="wps"><w:name w:val="标题 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="lvl"><w:name w:val="Kapitel"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr>'
    "</w:style>"
    '<w:style w:type="paragraph" w:styleId="body"><w:name w:val="x"/><w:basedOn w:val="1"/>'
    '<w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="loop"><w:name w:val="loop"/><w:basedOn w:val="pool"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="pool"><w:name w:val="pool"/><w:basedOn w:val="loop"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="toc1"><w:name w:val="toc 1"/></w:style>'
    '<w:style w:type="character" w:styleId="ghost"><w:name w:val="ghost"/><w:rPr><w:vanish/></w:rPr></w:style>'
)


@pytest.mark.parametrize(
    "heading",
    [
        para("雪夜", style="1"),
        para("雪夜", style="mine"),
        para("雪夜", style="wps"),
        para("雪夜", style="lvl"),
        para("雪夜", properties='<w:outlineLvl w:val="0"/>'),
    ],
    ids=["bare-digit-id", "based-on", "chinese-name", "outline-of-style", "outline-of-paragraph"],
)
def test_a_heading_is_known_by_its_outline_level_not_by_an_english_name(tmp_path: Path, heading: str) -> None:
    body = (heading + para("他推开门。")) * 2
    preview = read(tmp_path, body, parts={"styles": STYLES})
    assert [(one.title, one.text) for one in preview.chapters] == [("雪夜", "他推开门。")] * 2
    assert preview.report.rule == "headings"


def test_a_heading_that_is_too_long_for_a_title_is_text(tmp_path: Path) -> None:
    long = "雪" * 100_000
    preview = read(tmp_path, para("第一章 雪", style="1") + para(long, style="1"), parts={"styles": STYLES})
    assert [(one.title, one.text) for one in preview.chapters] == [("第一章 雪", long)]


def test_a_level_of_body_text_overrides_the_style_and_styles_in_a_circle_end(tmp_path: Path) -> None:
    body = para("第一章 雪", style="1") + para("不是标题", style="body") + para("循环", style="loop")
    preview = read(tmp_path, body, parts={"styles": STYLES})
    assert [(one.title, one.text) for one in preview.chapters] == [("第一章 雪", "不是标题\n循环")]


def test_without_headings_lines_such_as_chapter_numbers_tell(tmp_path: Path) -> None:
    preview = read(tmp_path, para("第一章 雪") + para("他推开门。") + para("第二章 灯") + para("灯灭了。"))
    assert [one.title for one in preview.chapters] == ["第一章 雪", "第二章 灯"]
    assert preview.report.rule == "lines"


def test_tracked_changes_are_accepted_and_counted(tmp_path: Path) -> None:
    body = para(
        "他",
        inside=f'<w:ins w:id="1" w:author="编辑">{run("慢慢")}</w:ins>'
        f"<w:del w:id='2'><w:r><w:delText>猛地</w:delText></w:r></w:del>{run('推开门。')}",
    )
    preview = read(tmp_path, body)
    assert preview.chapters[0].text == "他慢慢推开门。"
    assert (preview.report.insertions, preview.report.deletions) == (1, 1)


def test_moved_text_stands_where_it_was_moved_to(tmp_path: Path) -> None:
    body = para(inside=f"<w:moveFrom>{run('雪落了。')}</w:moveFrom>{run('甲。')}") + para(
        inside=f"<w:moveTo>{run('雪落了。')}</w:moveTo>"
    )
    preview = read(tmp_path, body)
    assert preview.chapters[0].text == "甲。\n雪落了。"
    assert preview.report.moves == 1


def test_a_deleted_paragraph_mark_joins_with_the_next_paragraph(tmp_path: Path) -> None:
    body = (
        para("他推开", properties="<w:rPr><w:del/></w:rPr>")
        + para("门。")
        + para("完。", properties="<w:rPr><w:ins/></w:rPr>")
    )
    assert read(tmp_path, body).chapters[0].text == "他推开门。\n完。"


def test_content_controls_smart_tags_and_links_are_transparent(tmp_path: Path) -> None:
    body = (
        f"<w:sdt><w:sdtPr/><w:sdtContent>{para('段落在控件里。')}</w:sdtContent></w:sdt>"
        + para(
            inside=f"<w:sdt><w:sdtContent>{run('行内，')}</w:sdtContent></w:sdt><w:smartTag>{run('江口')}</w:smartTag>"
        )
        + para(inside=f"<w:hyperlink>{run('链接')}</w:hyperlink><w:customXml>{run('自定')}</w:customXml>")
    )
    assert read(tmp_path, body).chapters[0].text == "段落在控件里。\n行内，江口\n链接自定"


def test_the_prompt_of_an_empty_control_is_no_text(tmp_path: Path) -> None:
    body = para(
        "甲。",
        inside=f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('单击此处')}</w:sdtContent></w:sdt>",
    )
    preview = read(tmp_path, body)
    assert preview.chapters[0].text == "甲。" and preview.report.hidden == 1


def test_tables_are_read_row_by_row(tmp_path: Path) -> None:
    def cell(*inside: str) -> str:
        return f"<w:tc><w:tcPr/>{''.join(inside)}</w:tc>"

    inner = f"<w:tbl><w:tr>{cell(para('内'))}{cell(para('层'))}</w:tr></w:tbl>"
    gone = f"<w:tr><w:trPr><w:del/></w:trPr>{cell(para('删'))}</w:tr>"
    table = (
        f"<w:tbl><w:tblPr/><w:tr>{cell(para('甲'))}{cell(para('乙'))}</w:tr>{gone}"
        f"<w:tr>{cell(para('丙'), para('丁'))}{cell(inner, para('戊'))}</w:tr></w:tbl>"
    )
    preview = read(tmp_path, para("前。") + table + para("后。"))
    assert preview.chapters[0].text.split("\n") == ["前。", "甲\t乙", "丙", "丁", "内\t层", "戊", "后。"]
    assert (preview.report.tables, preview.report.deletions) == (2, 1)


def test_a_text_box_is_read_once_after_its_paragraph(tmp_path: Path) -> None:
    def box(text: str) -> str:
        return f"<w:txbxContent>{para(text)}</w:txbxContent>"

    both = (
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>{box('框里')}</wps:txbx></w:drawing>"
        f"</mc:Choice><mc:Fallback><w:pict><v:textbox>{box('框里')}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    old = f"<w:r><w:pict><v:textbox>{box('旧框')}</v:textbox></w:pict></w:r>"
    preview = read(tmp_path, para("甲。", inside=both) + para("乙。", inside=old))
    assert preview.chapters[0].text.split("\n") == ["甲。", "框里", "乙。", "旧框"]
    assert preview.report.text_boxes == 2


def test_fields_give_their_results_also_over_paragraphs(tmp_path: Path) -> None:
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    code = "<w:r><w:instrText>REF x</w:instrText></w:r>"
    body = (
        para("见", inside=mark("begin") + code + run("隐") + mark("separate") + run("第三") + mark("end") + run("章。"))
        + para(inside=f'<w:fldSimple w:instr="DATE">{run("五月")}</w:fldSimple>')
        + para(inside=mark("begin") + code + mark("separate") + run("甲"))
        + para("乙", inside=mark("end"))
        + para("丙", inside=mark("begin") + code)
        + para("丁")
    )
    preview = read(tmp_path, body)
    assert preview.chapters[0].text.split("\n") == ["见第三章。", "五月", "甲", "乙", "丙", "丁"]
    assert preview.report.fields == 4


def test_italics_are_counted_by_passage_since_the_text_has_none(tmp_path: Path) -> None:
    leaned = "<w:i/>"
    inside = run("She read ") + run("The Ferry", leaned) + run("man", leaned) + run(" ") + run("again", leaned)
    preview = read(tmp_path, para(inside=inside) + para(inside=run("No", '<w:i w:val="0"/>')))
    assert preview.report.italics == 2
    assert "Passages in italics, read as plain text: 2." in report_lines(preview.report)


def test_ruby_symbols_breaks_and_hyphens(tmp_path: Path) -> None:
    ruby = f"<w:r><w:ruby><w:rubyPr/><w:rt>{run('xuě')}</w:rt><w:rubyBase>{run('雪')}</w:rubyBase></w:ruby></w:r>"
    signs = (
        '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:sym w:font="X" w:char="F0EE"/><w:t>a</w:t><w:noBreakHyphen/>'
        "<w:t>b</w:t><w:softHyphen/><w:t>c</w:t><w:tab/><w:t>d</w:t><w:br/><w:t>e</w:t><w:br w:type='page'/>"
        "<w:t>f</w:t></w:r>"
    )
    preview = read(tmp_path, para(inside=ruby + signs))
    assert preview.chapters[0].text == "雪✓?a\u2011bc\td\ne\nf"
    assert (preview.report.ruby, preview.report.symbols) == (1, 1)


def test_hidden_text_is_dropped_and_counted(tmp_path: Path) -> None:
    body = para(
        "甲",
        inside=run("藏", "<w:vanish/>") + run("显", '<w:vanish w:val="0"/>') + run("鬼", '<w:rStyle w:val="ghost"/>'),
    )
    preview = read(tmp_path, body, parts={"styles": STYLES})
    assert preview.chapters[0].text == "甲显" and preview.report.hidden == 2


def test_comments_are_kept_with_the_words_they_are_about(tmp_path: Path) -> None:
    comments = (
        f'<w:comment w:id="0" w:author="编辑" w:date="2026-05-04T03:02:01Z">{para("太快了。")}</w:comment>'
        f'<w:comment w:id="1" w:author="B">{para("over two paragraphs")}</w:comment>'
        f'<w:comment w:id="2" w:author="C">{para("nowhere")}</w:comment>'
    )
    body = (
        para("他", inside=f'<w:commentRangeStart w:id="0"/>{run("推开门")}<w:commentRangeEnd w:id="0"/>{run("。")}')
        + '<w:commentRangeStart w:id="1"/>'
        + para("雪。")
        + para("灯", inside='<w:commentRangeEnd w:id="1"/>')
    )
    found = read(tmp_path, body, parts={"comments": comments}).report.comments
    assert [(one.author, one.anchor, one.text) for one in found] == [
        ("编辑", "推开门", "太快了。"),
        ("B", "雪。\n灯", "over two paragraphs"),
        ("C", "", "nowhere"),
    ]
    assert found[0].at == "2026-05-04T03:02:01Z"


def test_notes_stand_in_brackets_once(tmp_path: Path) -> None:
    notes = f'<w:footnote w:type="separator" w:id="-1">{para("——")}</w:footnote>'
    notes += f'<w:footnote w:id="2">{para("今称渡口。")}</w:footnote>'
    ends = f'<w:endnote w:id="2">{para("Salt tax.")}</w:endnote>'
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    body = para("江口", inside=reference + reference + run("。")) + para(
        "Tax", inside='<w:r><w:endnoteReference w:id="2"/></w:r>'
    )
    preview = read(tmp_path, body, parts={"footnotes": notes, "endnotes": ends})
    assert preview.chapters[0].text == "江口〔今称渡口。〕。\nTax [Salt tax.]"
    assert preview.report.notes == 2


def test_numbers_that_word_makes_are_written_before_headings(tmp_path: Path) -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:start w:val="9"/>'
        '<w:numFmt w:val="chineseCountingThousand"/>'
        '<w:lvlText w:val="第%1章"/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
        '<w:lvlText w:val="%2."/></w:lvl></w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num>'
    )
    numbered = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>'
    item = '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr>'
    body = "".join(
        para(title, style="1", properties=numbered) + para("他推开门。") + para("条目", properties=item)
        for title in ("雪", "灯", "舟")
    )
    preview = read(tmp_path, body, parts={"styles": STYLES, "numbering": numbering})
    assert [(one.title, one.number) for one in preview.chapters] == [
        ("第九章 雪", 9),
        ("第十章 灯", 10),
        ("第十一章 舟", 11),
    ]
    assert (preview.report.numbered_headings, preview.report.list_items) == (3, 3)


def test_a_table_of_contents_and_headers_are_left_out_and_counted(tmp_path: Path) -> None:
    body = para("第一章 雪\t1", style="toc1") + para("第二章 灯\t9", style="toc1")
    body += para("第一章 雪", style="1") + para("甲。") + para("第二章 灯", style="1") + para("乙。")
    preview = read(tmp_path, body, parts={"styles": STYLES, "header1": para("盐账"), "footer1": para()})
    assert [one.title for one in preview.chapters] == ["第一章 雪", "第二章 灯"]
    assert (preview.report.contents_lines, preview.report.margins) == (2, 1)


def test_strict_documents_at_unusual_places_are_read(tmp_path: Path) -> None:
    body = para("第一章 雪", properties='<w:outlineLvl w:val="0"/>') + para("他推开门。")
    preview = read(tmp_path, body, namespace=STRICT, main="text/book.xml")
    assert [(one.title, one.text) for one in preview.chapters] == [("第一章 雪", "他推开门。")]


def test_what_python_docx_writes_is_read(tmp_path: Path) -> None:
    document = python_docx.Document()
    document.add_heading("The Salt Ledger", 0)
    for number in (1, 2):
        document.add_heading(f"Chapter {number}: Snow", 1)
        paragraph = document.add_paragraph("He opened the door.")
        document.add_comment(paragraph.runs, text="Too fast.", author="Editor")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    out = io.BytesIO()
    document.save(out)
    (tmp_path / "a.docx").write_bytes(out.getvalue())
    preview = read_manuscript(tmp_path / "a.docx")
    assert [one.title for one in preview.chapters] == ["Chapter 1: Snow", "Chapter 2: Snow"]
    assert preview.chapters[1].text == "He opened the door.\nleft\tright"
    assert [one.anchor for one in preview.report.comments] == ["He opened the door."] * 2
    assert any("The Salt Ledger" in warning for warning in preview.warnings)


def test_the_report_of_a_folder_adds_up(tmp_path: Path) -> None:
    for name in ("1.docx", "2.docx"):
        docx(tmp_path / name, para("甲", inside=f"<w:ins>{run('乙')}</w:ins>"))
    (tmp_path / "3.txt").write_text("丙", encoding="utf-8")
    report = read_manuscript(tmp_path).report
    assert (report.insertions, report.paragraphs) == (2, 2)

"""DOCX and EPUB files made by hand, as programs of others make them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_NAMESPACES = (
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml"'
)


def zipped(file: Path, parts: Mapping[str, str | bytes]) -> Path:
    """A ZIP file with these parts."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file


def xhtml(body: str, head: str = "") -> str:
    """A page."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>x</title>{head}</head>{body}</html>'
    )


def epub(
    file: Path,
    pages: Mapping[str, str],
    *,
    nav: str = "",
    ncx: str = "",
    guide: str = "",
    extra: Mapping[str, str | bytes] | None = None,
    unlinear: tuple[str, ...] = (),
) -> Path:
    """`pages` are bodies by file name in reading order; `nav` is the inside of a nav page, `ncx` of a navMap."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(pages)
    )
    items += '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>' if nav else ""
    items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' if ncx else ""
    refs = "".join(
        f'<itemref idref="i{n}"{" linear=" + chr(34) + "no" + chr(34) if name in unlinear else ""}/>'
        for n, name in enumerate(pages)
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata/>'
        f"<manifest>{items}</manifest><spine{' toc=' + chr(34) + 'ncx' + chr(34) if ncx else ''}>{refs}</spine>"
        f"<guide>{guide}</guide></package>"
    )
    parts: dict[str, str | bytes] = {"mimetype": "application/epub+zip", "META-INF/container.xml": _CONTAINER}
    parts["OPS/book.opf"] = package
    parts |= {
        f"OPS/{name.replace('%20', ' ')}": text if text.startswith("<?xml") else xhtml(text)
        for name, text in pages.items()
    }
    if nav:
        parts["OPS/nav.xhtml"] = xhtml(f"<body>{nav}</body>")
    if ncx:
        parts["OPS/toc.ncx"] = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'
    return zipped(file, parts | dict(extra or {}))


def docx(
    file: Path,
    body: str,
    *,
    parts: Mapping[str, str] | None = None,
    namespace: str = W,
    main: str = "word/document.xml",
    kind: str = f"{_OFFICE}.document.main+xml",
    raw: Mapping[str, str | bytes] | None = None,
) -> Path:
    """`body` is the inside of w:body; `parts` are insides of styles, numbering, footnotes ... by name."""
    folder, _slash, name = main.rpartition("/")
    there = dict(parts or {})
    roots = {"styles": "styles", "numbering": "numbering", "footnotes": "footnotes", "endnotes": "endnotes"}
    roots |= {"comments": "comments", "header1": "hdr", "footer1": "ftr"}
    relations = "".join(
        f'<Relationship Id="r{n}" Type="{_KINDS}/{one.rstrip("1")}" Target="{one}.xml"/>' for n, one in enumerate(there)
    )
    begin = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:{{}} xmlns:w="{namespace}" {_NAMESPACES}>'
    content: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{kind}"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{_KINDS}/officeDocument" Target="{main}"/></Relationships>',
        f"{folder}/_rels/{name}.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        f'relationships">{relations}</Relationships>',
        main: f"{begin.format('document')}<w:body>{body}</w:body></w:document>",
    }
    for one, inside in there.items():
        root = roots[one]
        content[f"{folder}/{one}.xml"] = f"{begin.format(root)}{inside}</w:{root}>"
    return zipped(file, content | dict(raw or {}))

"""A folder of small wheels under the names of OpenViking and what it needs, for `pip install --find-links`."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flowcabal_tui.viking.installed import VERSION

SERVER: Final = Path(__file__).with_name("fake_server.py")
START: Final = f"""
import sys
if "--version" in sys.argv:
    print("openviking-server {VERSION}")
    raise SystemExit(%(code)d)
import runpy
runpy.run_path({str(SERVER)!r}, run_name="__main__")
"""


def make_wheels(folder: Path, *, code: int = 0, needs: str = "openviking-sdk") -> Path:
    """Writes the wheels; the server ends with `code` when it is asked for its version. Returns `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    start = START % {"code": code}
    files = {"openviking_cli/__init__.py": "", "openviking_cli/server_bootstrap.py": start}
    _wheel(folder, "openviking", VERSION, files, needs)
    _wheel(folder, "openviking_sdk", "0.1.17", {"openviking_sdk/__init__.py": ""})
    _wheel(folder, "openviking_sdk", "0.1.99", {"openviking_sdk/__init__.py": "raise SystemExit('not the tested one')"})
    return folder


def _wheel(folder: Path, name: str, version: str, files: Mapping[str, str], needs: str = "") -> None:
    about = f"{name}-{version}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    whole = {
        **files,
        f"{about}/METADATA": head + (f"Requires-Dist: {needs}\n" if needs else ""),
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in whole.items()]
    whole[f"{about}/RECORD"] = "\n".join([*rows, f"{about}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in whole.items():
            archive.writestr(path, text)


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")

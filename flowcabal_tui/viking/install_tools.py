"""The programs that make an environment and fetch packages into it, by the user's own settings: pip, or uv."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.text import clean_line, without_login
from flowcabal_tui.locale import _
from flowcabal_tui.system.processes import find_program, minimal_environment
from flowcabal_tui.viking.installed import VERSION, python_in

ToolName = Literal["pip", "uv"]
SYSTEM_FOLDER: Final = Path("/etc")
CONSTRAINTS: Final = Path(__file__).with_name("constraints.txt")
_WANTED: Final = f"openviking=={VERSION}"
_NETWORK: Final = re.compile(
    r"PIP_(?:(?:EXTRA_)?INDEX_URL|FIND_LINKS|NO_INDEX|TRUSTED_HOST|PROXY|(?:CLIENT_)?CERT|(?:DEFAULT_)?TIMEOUT|RETRIES"
    r"|CONFIG_FILE|KEYRING_PROVIDER)"
    r"|UV_(?:DEFAULT_INDEX|INDEX|(?:EXTRA_)?INDEX_URL|FIND_LINKS|NO_INDEX|INDEX_STRATEGY|INDEX_\w+_(?:USERNAME|PASSWORD)"
    r"|OFFLINE|INSECURE_HOST|SYSTEM_CERTS|NATIVE_TLS|HTTP_TIMEOUT|HTTP_RETRIES|CONFIG_FILE|NO_CONFIG|KEYRING_PROVIDER)"
    r"|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|NETRC|(?i:https?|all|no)_proxy"
)
"""Variables for the sources of packages and the network; none that sets the target of an installation."""
_PIP_SOURCES: Final = """
import json, sys
from pip._internal.commands import create_command
options, _ = create_command("install").parse_args(["x"])
indexes = [] if options.no_index else [options.index_url, *options.extra_index_urls]
json.dump([*indexes, *options.find_links], sys.stdout)
"""
_UV_SOURCES: Final = """
import subprocess, sys
for words in (["pip", "install", "--show-settings", "x"], ["help", "pip", "install"]):
    subprocess.run([sys.argv[1], *words], check=False)
"""
_UV_HOST: Final = re.compile(r'Domain\(\s*"([^"]+)"')
_UV_FOLDER: Final = re.compile(r'path: "([^"]+)"')
_UV_DEFAULT: Final = re.compile(r"default: <?(https?://[^\s>\]]+)")


def network_environment(temporary: Path) -> dict[str, str]:
    """The environment of the tools: program paths, the user's index settings and proxies, and a `temporary` folder."""
    network = {name: value for name, value in os.environ.items() if _NETWORK.fullmatch(name)}
    return minimal_environment() | network | {"TMPDIR": str(temporary)}


class InstallTool(Protocol):
    """Command lines of a program that creates an environment and installs into it, with the user's own settings."""

    @property
    def name(self) -> ToolName: ...

    def make(self, environment: Path) -> list[str]: ...

    def ask(self, environment: Path) -> list[str]:
        """The command that prints the input of `sources`; it fetches nothing."""

    def sources(self, output: str) -> tuple[str, ...]:
        """The hosts and folders that packages would come from; () if unknown."""

    def install(self, environment: Path, cache: Path) -> list[str]:
        """The command that installs, with downloads stored in `cache`. Only wheels: no build script of a package
        runs."""


@dataclass(frozen=True, slots=True)
class Pip:
    """`python -m venv` and the pip that it brings."""

    python: str = sys.executable
    name: ToolName = "pip"

    def make(self, environment: Path) -> list[str]:
        return [self.python, "-I", "-m", "venv", str(environment)]

    def ask(self, environment: Path) -> list[str]:
        return [str(python_in(environment)), "-I", "-c", _PIP_SOURCES]

    def sources(self, output: str) -> tuple[str, ...]:
        try:
            return _places(json.loads(output.splitlines()[-1]))
        except (ValueError, TypeError, IndexError):
            return ()

    def install(self, environment: Path, cache: Path) -> list[str]:
        options = ["--no-input", "--no-user", "--no-compile", "--disable-pip-version-check", "--progress-bar", "off"]
        places = ["--cache-dir", str(cache), "-c", str(CONSTRAINTS)]
        pip = [str(python_in(environment)), "-I", "-m", "pip"]
        return [*pip, "install", *options, "--only-binary", ":all:", *places, _WANTED]


@dataclass(frozen=True, slots=True)
class Uv:
    """uv, which reads its own settings and not those of pip."""

    program: str
    name: ToolName = "uv"

    def make(self, environment: Path) -> list[str]:
        options = ["--no-project", "--no-python-downloads", "--python", sys.executable]
        return [self.program, "venv", *options, str(environment)]

    def ask(self, environment: Path) -> list[str]:
        return [sys.executable, "-I", "-c", _UV_SOURCES, self.program]

    def sources(self, output: str) -> tuple[str, ...]:
        settings = output.partition("index_locations:")[2].partition("\n        },")[0]
        urls = settings.split("SafeUrl {")[1:]
        found = [named for url in urls for named in (_UV_HOST.findall(url) or _UV_FOLDER.findall(url))[:1]]
        if not found and "no_index: true" not in settings:
            found = _UV_DEFAULT.findall(output)[:1]
        return _places(found)

    def install(self, environment: Path, cache: Path) -> list[str]:
        places = ["--cache-dir", str(cache), "-c", str(CONSTRAINTS), "--python", str(python_in(environment))]
        return [self.program, "pip", "install", "--no-progress", "--only-binary", ":all:", *places, _WANTED]


def _places(addresses: Iterable[object]) -> tuple[str, ...]:
    """Hosts of web addresses, folders as they are; each once, without logins and control characters."""
    found = (str(address) for address in addresses if address)
    return tuple(dict.fromkeys(host_of(text) or clean_line(without_login(text)) for text in found))


def find_tool(wanted: ToolName | None = None) -> InstallTool:
    """uv if it is on PATH, since it is many times as fast; pip if there is no uv, if the user has settings only for
    pip, or if pip is `wanted`.

    Raises KnowledgeError if neither can be used.
    """
    uv = find_program("uv")
    has_pip = bool(importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"))
    if wanted != "pip" and uv and (wanted == "uv" or not has_pip or not _is_pip_set_up()):
        return Uv(uv)
    if wanted != "uv" and has_pip:
        return Pip()
    if wanted == "uv":
        raise KnowledgeError(_("uv is not installed, or not on PATH."), "", _("Leave out --with, or install uv."))
    raise KnowledgeError(
        _("This Python cannot make an environment."),
        _("It has no venv and ensurepip, and uv is not on PATH."),
        _("Install your system's package for them (often python3-venv), or uv, and try again."),
    )


def _is_pip_set_up() -> bool:
    """True when pip has user settings, which uv would not read. Looks in the places that pip documents."""
    home = Path.home()
    given = os.environ.get("XDG_CONFIG_HOME") or home / ".config"
    folders = (SYSTEM_FOLDER, home / ".pip", Path(given) / "pip", home / "Library" / "Application Support" / "pip")
    in_environment = any(name.startswith("PIP_") and _NETWORK.fullmatch(name) for name in os.environ)
    return in_environment or any((folder / "pip.conf").is_file() for folder in folders)

"""The host of a web address: keys are bound to it, and loopback hosts count as this machine."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import Final
from urllib.parse import SplitResult, urlsplit

from flowcabal_tui.domain.late_pattern import late

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME: Final = late(r"[a-z0-9_.-]+")
_DOTS: Final = late("[.\u3002\uff0e\uff61]")
"""The characters that separate the labels of an international name (RFC 3490, 3.1)."""


def host_of(url: str) -> str:
    """`host` or `host:port` in lower case, without login and default port; "" when the address has no clear host.

    A name in another script is given in its ASCII form (xn--...), so that it cannot be taken for a similar one.
    """
    parts, host = _parts(url), _host(url)
    if parts is None or not host:
        return ""
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    return host if port is None or port == _DEFAULT_PORTS.get(parts.scheme) else f"{host}:{port}"


def is_loopback(url: str) -> bool:
    """True for `localhost` and loopback addresses; names that end in `.localhost` are left to the resolver."""
    host = _host(url)
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_encrypted(url: str) -> bool:
    """True for https."""
    return url.strip().lower().startswith("https:")


def _parts(url: str) -> SplitResult | None:
    """The parsed address; None where programs disagree on how to parse it."""
    url = url.strip()
    if any(unicodedata.category(character) in ("Cc", "Cf", "Zs") for character in url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return None if "\\" in parts.netloc or not _is_port(parts.netloc) else parts


def _is_port(place: str) -> bool:
    """True when nothing follows the host, or a colon with digits."""
    after = place.rpartition("@")[2].rpartition("]")[2]
    return re.fullmatch(r"[^:]*(:[0-9]*)?", after) is not None and ("]" not in place or after[:1] in ("", ":"))


def _host(url: str) -> str:
    """The name or number alone, in ASCII; "" when the address has none."""
    parts = _parts(url)
    name = (parts.hostname or "") if parts is not None else ""
    if ":" in name:
        return name if _is_v6(name) else ""
    name = ".".join(map(_ascii, _DOTS.split(name))).rstrip(".")
    return name if _NAME.fullmatch(name) else ""


def _is_v6(name: str) -> bool:
    try:
        return ipaddress.IPv6Address(name).scope_id is None
    except ValueError:
        return False


def _ascii(label: str) -> str:
    if label.isascii():
        return label
    return "xn--" + unicodedata.normalize("NFC", label).encode("punycode").decode("ascii")

"""An external OpenViking server, which is never started here, only polled regularly."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.viking.client import Address, KnowledgeClient
from flowcabal_tui.viking.layout import RESOURCES
from flowcabal_tui.viking.status import External, KnowledgeStatus, Stopped


class ExternalKnowledge:
    """The same interface as `OpenVikingServer`, for the server at `url`.

    `key_variable` names the environment variable with the server's root key ("": it asks for none).
    """

    workspace: Path | None = None

    def __init__(
        self,
        url: str,
        publish: Callable[[KnowledgeStatus], None],
        *,
        key_variable: str = "",
        poll_seconds: float = 30.0,
    ) -> None:
        self._url, self._publish, self._key_variable = url, publish, key_variable
        self._poll_seconds = poll_seconds
        self._status: KnowledgeStatus = Stopped()
        self._polling: asyncio.Task[None] | None = None

    def address(self) -> Address:
        """The address; raises KnowledgeError when the URL or the key's variable cannot be used."""
        if not host_of(self._url) or urlsplit(self._url.strip()).scheme not in {"http", "https"}:
            raise KnowledgeError(
                _("The address of the knowledge server is not a web address."),
                self._url,
                _("Set [knowledge] url to an address such as http://192.168.0.2:1933."),
            )
        key = os.environ.get(self._key_variable, "") if self._key_variable else ""
        if self._key_variable and not key:
            raise KnowledgeError(
                _("The key of the knowledge server is not set."),
                _("The environment variable {name} is empty.").format(name=self._key_variable),
                _("Set it to the server's root key, or remove [knowledge] api_key_env."),
            )
        return Address(self._url.strip(), key)

    async def start(self) -> None:
        """Begins to poll the server."""
        if self._polling is None:
            self._polling = asyncio.create_task(self._poll())

    async def stop(self, *, wait: bool) -> None:
        """Stops polling; the server itself continues, so there is nothing to `wait` for."""
        if self._polling is not None:
            self._polling.cancel()
            if wait:
                await asyncio.wait([self._polling])
            self._polling = None
        self._set_status(Stopped())

    def _set_status(self, status: KnowledgeStatus) -> None:
        if status != self._status:
            self._status = status
            self._publish(status)

    async def _poll(self) -> None:
        async with contextlib.aclosing(KnowledgeClient(self.address, answer_seconds=10.0)) as client:
            while True:
                try:
                    await client.ls(f"{RESOURCES}/")
                    self._set_status(External(self._url))
                except KnowledgeError as error:
                    self._set_status(External(self._url, sentences(error.title, error.detail)))
                await asyncio.sleep(self._poll_seconds)

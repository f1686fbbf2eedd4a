"""Settles on the command line whether texts may be sent to an embedding model."""

from __future__ import annotations

import sys
from argparse import Namespace

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.project import Project
from flowcabal_tui.project.models.consent import not_agreed
from flowcabal_tui.protocol.models import AnswerEmbeddings


async def settle_embeddings(project: Project, arguments: Namespace) -> None:
    """Applies the flag. Raises EmbeddingsNotAgreed when the server is used and the user has not answered."""
    if arguments.embeddings is not None:
        await project.carry_out(AnswerEmbeddings(arguments.embeddings == "yes"))
    elif arguments.knowledge and (quote := await project.models.embedding_question()) is not None:
        say(quote.words, file=sys.stderr)
        raise not_agreed(quote.embedder)

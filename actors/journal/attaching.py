"""A journal as a part of a system that starts."""

from __future__ import annotations

from typing import Any

import pykka

from ..controller.messages import ResumeCollections
from ..dispatch.base import Dispatcher
from .compactor import Compactor
from .journal import Journal
from .opening import OpenedJournal


def attach_journal(
    dispatcher: Dispatcher,
    opened: OpenedJournal,
    controller: pykka.ActorRef[Any],
) -> None:
    """Start the actors of a journal, and have a controller and its storage, which were just started, go on with what is
    in it."""
    compactor = dispatcher.start(Compactor, opened.directory)
    journal = dispatcher.start(Journal, opened, compactor)
    state = opened.state
    definitions = tuple(state.catalog.defined.values())
    controller.tell(ResumeCollections(journal, state.latest, state.catalog.next_id, definitions, state.contents()))
    # The storage has it now, and compacts it.
    state.parts.clear()

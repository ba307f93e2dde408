"""Which dataflows a runtime renders.

A process has one runtime, *solo*, or two: *maintenance* keeps arrangements up to date, *interactive* runs dataflows
that live for one read. Both hear every command and decide by this what ``CreateDataflow`` means to them.
"""

from __future__ import annotations

import enum

from ...messages.dataflows import DataflowClass


class Placement(enum.Enum):
    """The role of a runtime, by the classes of dataflows that it renders."""

    SOLO = frozenset(DataflowClass)
    MAINTENANCE = frozenset({DataflowClass.MAINTAINED})
    INTERACTIVE = frozenset({DataflowClass.ONE_SHOT_READ})

    def renders(self, dataflow_class: DataflowClass) -> bool:
        """Whether this runtime renders such dataflows; of others it only records the exports, as peers."""
        return dataflow_class in self.value

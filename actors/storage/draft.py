"""What a transaction does to one table, before any of it is applied.

A draft sees the table as the transaction's earlier changes leave it: the stored rows and the pending updates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from ...dataflow.arrangements.batch import Batch
from ...dataflow.arrangements.updates import Diffs, Updates, concat_optional, concat_updates, error_messages
from ...dataflow.columns.column import Column
from ...dataflow.columns.grouping import row_hashes
from ...dataflow.scalars.mfp import MfpProgram
from ...messages.frontiers import Timestamp
from ...messages.plans import MapFilterProject
from ...messages.scalars import Scalar
from ..errors import DuplicateKey, ExpressionFailed, NoSuchRow, RejectedData
from .checks import check_columns
from .contents import add_counts
from .key_predicates import keys_of
from .shard import Shard


class Draft:
    """The pending updates of one table, all at ``time``. A method that raises has changed nothing but this draft."""

    def __init__(self, shard: Shard, time: Timestamp, *, trust: bool) -> None:
        self._shard = shard
        self._time = time
        self._trust = trust
        self._pending: list[Updates] = []
        self._arranged: Batch | None = None
        self._retracts = False

    def result(self) -> Updates | None:
        """The net updates of the table; None when there are none."""
        updates = concat_optional(self._pending)
        if updates is None or len(self._pending) == 1 or not self._retracts:
            return updates
        net = updates.consolidate()
        return net if len(net) else None

    def insert(self, columns: tuple[Column, ...]) -> int:
        """New rows; refused when their key exists. Returns how many rows were affected, like the others here."""
        check_columns(self._shard.name, self._shard.schema, columns)
        if self._shard.key:
            keys = self._unique_keys(columns)
            existing = np.flatnonzero(self._count(keys))
            if len(existing):
                self._duplicate_key(Updates.of(keys, self._time).take(existing))
        return self._add(Updates.of(columns, self._time))

    def upsert(self, columns: tuple[Column, ...]) -> int:
        """New rows in place of those with equal keys."""
        check_columns(self._shard.name, self._shard.schema, columns)
        if not self._shard.key:
            raise RejectedData(self._shard.name, "an upsert needs a table with a key; delete and insert instead")
        self._retract(self._find(self._unique_keys(columns)))
        return self._add(Updates.of(columns, self._time))

    def delete(self, columns: tuple[Column, ...]) -> int:
        """Each of these rows, once; refused when one does not exist."""
        check_columns(self._shard.name, self._shard.schema, columns)
        wanted = Updates.of(columns, self._time).consolidate()
        if not len(wanted):
            return 0
        if self._shard.key:
            counts = self._count(self._shard.layout.key_of(wanted.columns), wanted.columns)
        else:
            counts = self._count(wanted.columns)
        missing = np.flatnonzero(counts < wanted.diffs)
        if len(missing):
            example = wanted.take(missing[:1]).to_tuples()[0][0]
            raise NoSuchRow(self._shard.name, example, int((wanted.diffs - counts)[missing].sum()))
        return self._retract(wanted)

    def delete_keys(self, keys: tuple[Column, ...]) -> int:
        """The rows with these keys; refused when one does not exist."""
        fields = [self._shard.schema.fields[position] for position in self._shard.key]
        if not fields:
            raise RejectedData(self._shard.name, "deleting by key needs a table with a key; delete rows instead")
        if [key.type for key in keys] != [field.type for field in fields]:
            given = ", ".join(key.type for key in keys)
            expected = ", ".join(f"{field.name} {field.type}" for field in fields)
            raise RejectedData(self._shard.name, f"the key is ({expected}), given ({given})")
        wanted = Updates.of(keys, self._time).consolidate()
        if not len(wanted):
            return 0
        existing = self._find(wanted.columns)
        found = 0 if existing is None else len(existing)
        if found < len(wanted):
            # Keys are unique, so each wanted key has one row or none.
            ones = Updates.of(wanted.columns, self._time)
            present = [] if existing is None else [self._key_updates(existing).negate()]
            missing = concat_updates([ones, *present]).consolidate()
            raise NoSuchRow(self._shard.name, missing.to_tuples()[0][0], len(missing))
        return self._retract(existing)

    def delete_where(self, predicate: Scalar | None) -> int:
        """The rows for which the predicate is true."""
        return self._retract(self._where(predicate))

    def update_where(self, predicate: Scalar | None, assignments: tuple[tuple[int, Scalar], ...]) -> int:
        """Set columns in the rows for which the predicate is true."""
        schema = self._shard.schema
        old = self._where(predicate)
        if old is None:
            return 0
        sources = list(range(schema.arity))
        for place, (position, _) in enumerate(assignments):
            sources[position] = schema.arity + place
        scalars = tuple(scalar for _, scalar in assignments)
        new = self._apply(MapFilterProject(schema.arity, scalars, (), tuple(sources)), old)
        assert new is not None, "a projection keeps all rows"
        check_columns(self._shard.name, schema, new.columns)
        self._retract(old)
        count = self._add(new)
        if any(position in self._shard.key for position, _ in assignments):
            keys = self._key_updates(new).consolidate().columns
            self._refuse_duplicates(self._find(keys))
        return count

    # --- The table as it would be --------------------------------------------------------------------------------

    def _find(self, keys: Sequence[Column]) -> Updates | None:
        """The rows with these keys (distinct), with their multiplicities."""
        found = self._shard.arranged.find(keys)
        pending = self._pending_batch()
        if pending is not None:
            _, rows = pending.find(keys, row_hashes(keys, len(keys[0])))
            if len(rows):
                found.append(pending.updates.take(rows))
        return self._settle(found)

    def _count(self, keys: Sequence[Column], rows: Sequence[Column] | None = None) -> Diffs:
        """How many rows there are with each of these keys (equal to the one beside it in ``rows``, when given)."""
        counts = self._shard.arranged.count(keys, rows)
        pending = self._pending_batch()
        if pending is not None:
            add_counts(counts, pending, keys, row_hashes(keys, len(keys[0])), rows)
        return counts

    def _pending_batch(self) -> Batch | None:
        if self._pending and self._arranged is None:
            pending = concat_updates(self._pending)
            self._arranged = Batch.build(self._shard.layout, pending, self._time, self._time + 1)
        return self._arranged

    def _where(self, predicate: Scalar | None) -> Updates | None:
        keys = keys_of(predicate, self._shard)
        if keys is not None:
            found = self._find(keys)
            parts = [] if found is None else [found]
        else:
            parts = [*self._shard.oks.parts(), *self._pending]
        if predicate is None:
            return self._settle(parts)
        arity = self._shard.schema.arity
        mfp = MapFilterProject(arity, (), (predicate,), tuple(range(arity)))
        oks: list[Updates] = []
        errs: list[Updates] = []
        program = self._program(mfp)
        for part in parts:
            matched, failed = program(part)
            if matched is not None:
                oks.append(matched)
            if failed is not None:
                errs.append(failed)
        # A row that was deleted, or an earlier version of it, may fail: together they cancel out.
        self._refuse_errors(self._settle(errs))
        return self._settle(oks)

    def _apply(self, mfp: MapFilterProject, rows: Updates) -> Updates | None:
        oks, errs = self._program(mfp)(rows)
        self._refuse_errors(errs)
        return oks

    def _program(self, mfp: MapFilterProject) -> Callable[[Updates], tuple[Updates | None, Updates | None]]:
        return MfpProgram(mfp, self._shard.schema.types, trust=self._trust).apply

    def _settle(self, parts: list[Updates]) -> Updates | None:
        updates = concat_optional(parts)
        if updates is None:
            return None
        settled = updates.at(self._time).consolidate()
        return settled if len(settled) else None

    # --- Changing the draft --------------------------------------------------------------------------------------

    def _add(self, updates: Updates) -> int:
        if not len(updates):
            return 0
        self._pending.append(updates)
        self._arranged = None
        return int(updates.diffs.sum())

    def _retract(self, rows: Updates | None) -> int:
        if rows is None:
            return 0
        self._retracts = True
        return -self._add(rows.negate())

    # --- Keys ----------------------------------------------------------------------------------------------------

    def _key_updates(self, rows: Updates) -> Updates:
        return rows.project(self._shard.key)

    def _unique_keys(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        keys = Updates.of(self._shard.layout.key_of(columns), self._time)
        if len(keys) < 2:
            return keys.columns
        distinct = keys.consolidate()
        if len(distinct) < len(keys):
            repeated = distinct.filter(distinct.diffs > 1)
            self._duplicate_key(repeated)
        return distinct.columns

    def _refuse_duplicates(self, rows: Updates | None) -> None:
        if rows is None:
            return
        counts = self._key_updates(rows).consolidate()
        repeated = counts.filter(counts.diffs > 1)
        if len(repeated):
            self._duplicate_key(repeated)

    def _duplicate_key(self, keys: Updates) -> NoReturn:
        shard = self._shard
        names = tuple(shard.schema.names[position] for position in shard.key)
        raise DuplicateKey(shard.name, names, keys.slice(0, 1).to_tuples()[0][0], len(keys))

    def _refuse_errors(self, errors: Updates | None) -> None:
        if errors is not None:
            raise ExpressionFailed(self._shard.name, min(error_messages(errors)))

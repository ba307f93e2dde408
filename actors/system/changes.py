"""The changes of a transaction, from what an application gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from ...dataflow.columns.column import concat_columns
from ...messages.scalars import Scalar
from ...messages.types import Field, SqlType
from ..errors import RejectedData
from ..relations.binding import RowScope, bind, bind_condition, position_of
from ..relations.coercion import Bound, coerce
from ..relations.errors import ExpressionTypeError, RelationError
from ..relations.expressions import ExpressionOrValue, as_expression
from ..requests import Change, Delete, DeleteKeys, DeleteWhere, Insert, UpdateWhere, Upsert

if TYPE_CHECKING:
    from .table import Table


def insertion(table: Table, data: object) -> Insert:
    """New rows."""
    return Insert(table.id, table.ingest.columns(data))


def replacement(table: Table, data: object) -> Upsert:
    """New rows in place of the ones with equal keys."""
    if not table.key:
        raise RejectedData(table.name, "upsert needs a key: create the table with key=[…], or delete and insert")
    return Upsert(table.id, table.ingest.columns(data))


def deletion(table: Table, rows: object, keys: object, where: ExpressionOrValue | None) -> Change:
    """Rows to remove: given whole, by key, or by a condition.

    Raises:
        RelationError: not exactly one of the three.
    """
    if sum(given is not None for given in (rows, keys, where)) != 1:
        raise RelationError(
            "delete takes the rows to remove, or keys=[…], or where=condition (where=True for all rows); exactly one"
        )
    if rows is not None and table.key and isinstance(rows, int | str):
        raise RejectedData(table.name, f"delete takes whole rows; to delete by key, write delete(keys=[{rows!r}])")
    if rows is not None:
        return Delete(table.id, table.ingest.columns(rows))
    if keys is not None:
        return _deletion_of_keys(table, keys)
    return DeleteWhere(table.id, _predicate(table, where, "delete where"))


def _deletion_of_keys(table: Table, keys: object) -> DeleteKeys:
    ingest = table.key_ingest
    if ingest is None:
        raise RejectedData(table.name, "delete by key needs a key: create the table with key=[…], or use where=")
    if len(table.key) == 1 and isinstance(keys, list | tuple | set | range):
        given = cast(Iterable[Any], keys)
        rows: list[Any] = [key if isinstance(key, tuple | list | Mapping) else (key,) for key in given]
        return DeleteKeys(table.id, ingest.columns(rows))
    return DeleteKeys(table.id, ingest.columns(keys))


def assignments(given: object, named: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an update sets, from a mapping and from named arguments.

    Raises:
        RelationError: it is no mapping, or both set one column.
    """
    if given is None:
        return named
    if not isinstance(given, Mapping):
        raise RelationError(f"update takes a mapping of columns to what they are set to, and {given!r} was given")
    mapping = cast(Mapping[str, Any], given)
    for name in named:
        if name in mapping:
            raise RelationError(f"update sets column {name!r} twice, in the mapping and by name; leave one out")
    return {**mapping, **named}


def modification(table: Table, assignments: Mapping[str, Any], where: ExpressionOrValue | None) -> UpdateWhere:
    """Columns to set in the rows that meet a condition (all when None).

    Raises:
        UnknownColumnError, ExpressionTypeError: an assignment that is none.
    """
    if not assignments:
        raise RelationError("update takes what to set: update(where=…, column=expression) or update({'column': …})")
    scope = RowScope(table.schema, "update")
    bound: list[tuple[int, Scalar]] = []
    for name, value in assignments.items():
        position = position_of(name, table.schema, "update")
        field = table.schema.fields[position]
        bound.append((position, _assigned(bind(as_expression(value).node, scope), field)))
    return UpdateWhere(table.id, _predicate(table, where, "update where"), tuple(bound))


def _assigned(value: Bound, field: Field) -> Scalar:
    if value.is_null and not field.nullable:
        raise ExpressionTypeError(f"update: column {field.name!r} takes no NULL")
    numbers = value.sql.is_number and field.type.is_number
    moments = value.sql is SqlType.DATE and field.type is SqlType.TIMESTAMP
    if value.sql is field.type or value.flexible or numbers or moments:
        return coerce(value, field.type).scalar
    raise ExpressionTypeError(
        f"update: column {field.name!r} is {field.type}, and {value.shown} is {value.sql}; use .cast('{field.type}')"
    )


def _predicate(table: Table, where: ExpressionOrValue | None, what: str) -> Scalar | None:
    if where is None or where is True:
        return None
    return bind_condition(as_expression(where).node, RowScope(table.schema, what), what)


def merged(changes: list[Change]) -> tuple[Change, ...]:
    """The same changes, with neighbouring insertions into one table as one."""
    result: list[Change] = []
    run: list[Insert] = []
    for change in changes:
        if run and not (isinstance(change, Insert) and change.table == run[-1].table):
            result.append(_one(run))
            run = []
        if isinstance(change, Insert):
            run.append(change)
        else:
            result.append(change)
    if run:
        result.append(_one(run))
    return tuple(result)


def _one(run: list[Insert]) -> Insert:
    if len(run) == 1:
        return run[0]
    columns = zip(*(insert.columns for insert in run), strict=True)
    return Insert(run[0].table, tuple(concat_columns(parts) for parts in columns))

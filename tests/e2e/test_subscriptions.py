"""Subscriptions: contiguous batches, snapshot or not, ends, errors."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from pillion.actors import ActorSystem, ChangeBatch, CollectionError, Subscription, Table, col, sum


def table_of(system: ActorSystem) -> Table:
    table = system.create_table("items", {"id": "bigint", "amount": "bigint"}, history=100)
    table.insert([(1, 10), (2, 20)])
    return table


def changes_until(subscription: Subscription, timestamp: int) -> list[tuple[int, int, Any]]:
    batches = list(subscription.until(timestamp))
    for before, after in itertools.pairwise(batches):
        assert before.upper == after.lower
    return sorted(change for batch in batches for change in batch)


def test_the_snapshot_then_every_change(system: ActorSystem) -> None:
    items = table_of(system)
    with system.subscribe(items) as subscription:
        assert changes_until(subscription, subscription.as_of) == [
            (subscription.as_of, 1, (1, 10)), (subscription.as_of, 1, (2, 20)),
        ]  # fmt: skip
        first = items.insert((3, 30)).timestamp
        second = items.update(amount=col("amount") + 1, where=col("id") == 1).timestamp
        assert changes_until(subscription, second) == [
            (first, 1, (3, 30)), (second, -1, (1, 10)), (second, 1, (1, 11)),
        ]  # fmt: skip


def test_without_the_snapshot(system: ActorSystem) -> None:
    items = table_of(system)
    with system.subscribe(items, with_snapshot=False) as subscription:
        written = items.insert((3, 30)).timestamp
        assert changes_until(subscription, written) == [(written, 1, (3, 30))]


def test_from_a_time_in_the_past_to_a_time_in_the_future(system: ActorSystem) -> None:
    items = table_of(system)
    start = system.query(items).timestamp
    second = items.insert((3, 30)).timestamp
    with system.subscribe(items, as_of=start, up_to=second + 2) as subscription:
        assert subscription.as_of == start
        third = items.insert((4, 40)).timestamp
        items.insert((5, 50))
        seen = [change for batch in subscription for change in batch]
    assert Counter(row for _, _, row in seen) == Counter([(1, 10), (2, 20), (3, 30), (4, 40)])
    assert max_time(seen) == third
    assert subscription.poll() is None


def max_time(changes: list[Any]) -> int:
    return sorted(change.time for change in changes)[-1]


def test_polling(system: ActorSystem) -> None:
    items = table_of(system)
    with system.subscribe(items) as subscription:
        changes_until(subscription, subscription.as_of)
        while subscription.poll(0.01) is not None:
            pass
        items.insert((3, 30))
        rows: list[Any] = []
        while not rows:
            batch = subscription.poll(30)
            assert batch is not None
            rows += [row for _, _, row in batch]
        assert rows == [(3, 30)]


def test_batches_as_arrow(system: ActorSystem) -> None:
    items = table_of(system)
    with system.subscribe(items) as subscription:
        batch = next(batch for batch in subscription if len(batch))
    assert isinstance(batch, ChangeBatch)
    table = batch.to_arrow()
    assert table.column_names == ["_time", "_diff", "id", "amount"]
    assert sorted(table.column("id").to_pylist()) == [1, 2]
    assert set(table.column("_diff").to_pylist()) == {1}


def test_closing_ends_the_iteration(system: ActorSystem) -> None:
    items = table_of(system)
    subscription = system.subscribe(items)
    changes_until(subscription, subscription.as_of)
    subscription.close()
    subscription.close()
    items.insert((3, 30))
    assert [row for batch in subscription for _, _, row in batch] == []


def test_dropping_the_table_ends_the_subscription(system: ActorSystem) -> None:
    items = table_of(system)
    subscription = system.subscribe(items)
    changes_until(subscription, subscription.as_of)
    system.drop(items, cascade=True)
    assert all(isinstance(batch, ChangeBatch) for batch in subscription)


def test_an_error_is_raised_once_and_following_goes_on(system: ActorSystem) -> None:
    items = table_of(system)
    with system.subscribe(items.select(inverse=100 / col("amount"))) as subscription:
        changes_until(subscription, subscription.as_of)
        items.insert((3, 0))
        with pytest.raises(CollectionError, match="division by zero"):
            changes_until(subscription, items.insert((4, 50)).timestamp)
        items.delete((3, 0))
        written = items.insert((5, 25)).timestamp
        rows: list[Any] = []
        while (written, 1, (4.0,)) not in rows:
            try:
                rows += changes_until(subscription, written)
            except CollectionError:
                continue


def test_a_relation_that_computes(system: ActorSystem) -> None:
    items = table_of(system)
    with system.subscribe(items.agg(total=sum("amount"))) as subscription:
        assert [c[1:] for c in changes_until(subscription, subscription.as_of)] == [(1, (30,))]
        written = items.insert((3, 12)).timestamp
        assert [c[1:] for c in changes_until(subscription, written)] == [(-1, (30,)), (1, (42,))]

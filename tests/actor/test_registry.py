"""The sharing registry alone: whoever publishes, acquires and releases is brought together, in whatever order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.registry.messages import Acquire, Bound, CountSlots, Publish, Release, Released
from pillion.actors.registry.registry import SharingRegistry
from pillion.actors.testing.probe import Probe
from pillion.dataflow.arrangements.arrangement import Arrangement
from pillion.dataflow.arrangements.batch import Layout
from pillion.dataflow.arrangements.publication import Incarnation, Publication
from pillion.dataflow.arrangements.trace import Trace
from pillion.messages.ids import GlobalId
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import SqlType

INDEX = GlobalId("u", 1)
FIRST: Incarnation = ("a", 0)
SECOND: Incarnation = ("b", 4)


def publication(incarnation: Incarnation = FIRST) -> Publication:
    arrangement = Arrangement((SqlType.BIGINT,), 1, Layout(1, (0,)), 0)
    return Trace(INDEX, incarnation, (ColumnRef(0),), arrangement, 0).publish(standing=True)


class Bench:
    """A registry with a publisher and a reader around it."""

    def __init__(self) -> None:
        self.dispatcher = SimulatedDispatcher()
        self.registry = self.dispatcher.start(SharingRegistry)
        self.publisher = Probe(self.dispatcher)
        self.reader = Probe(self.dispatcher)

    def send(self, *messages: object) -> None:
        for message in messages:
            self.registry.tell(message)
        self.dispatcher.run()

    def publish(self, published: Publication, worker: int = 0) -> Publish:
        return Publish(worker, published, self.publisher.ref)

    def acquire(self, incarnation: Incarnation = FIRST, worker: int = 0) -> Acquire:
        return Acquire(worker, INDEX, incarnation, self.reader.ref)

    def slots(self) -> int:
        return self.registry.ask(CountSlots())


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.dispatcher.stop()


def test_a_reader_gets_the_publication_that_is_there(bench: Bench) -> None:
    published = publication()
    bench.send(bench.publish(published), bench.acquire())
    assert bench.reader.expect(Bound).publication is published
    bench.publisher.expect_none()


def test_a_reader_that_comes_first_is_told_when_it_is_there(bench: Bench) -> None:
    bench.send(bench.acquire())
    bench.reader.expect_none()
    published = publication()
    bench.send(bench.publish(published))
    assert bench.reader.expect(Bound).publication is published


def test_another_incarnation_of_the_index_is_another_slot(bench: Bench) -> None:
    bench.send(bench.publish(publication(FIRST)), bench.acquire(SECOND))
    bench.reader.expect_none()
    second = publication(SECOND)
    bench.send(bench.publish(second))
    assert bench.reader.expect(Bound).publication is second
    bench.reader.expect_none()


def test_every_worker_has_a_slot_of_its_own(bench: Bench) -> None:
    published = publication()
    bench.send(bench.acquire(worker=1), bench.publish(published, worker=0))
    bench.reader.expect_none()
    bench.send(bench.publish(published, worker=1))
    bench.reader.expect(Bound)


def test_the_publisher_is_told_once_nobody_will_read(bench: Bench) -> None:
    bench.send(bench.publish(publication()), bench.acquire(), Release(0, INDEX, FIRST))
    bench.publisher.expect(Released, id=INDEX, incarnation=FIRST)
    bench.publisher.expect_none()
    assert bench.slots() == 0


def test_whoever_releases_before_it_was_published_is_not_bothered_and_the_publisher_is_told(bench: Bench) -> None:
    bench.send(bench.acquire(), Release(0, INDEX, FIRST), bench.publish(publication()))
    bench.reader.expect_none()
    bench.publisher.expect(Released, id=INDEX, incarnation=FIRST)
    assert bench.slots() == 0


def test_in_every_order_each_side_hears_what_it_needs(bench: Bench) -> None:
    steps = ("publish", "acquire", "release")
    for order in itertools.permutations(steps):
        if order.index("acquire") > order.index("release"):
            continue
        published = publication()
        messages = {"publish": bench.publish(published), "acquire": bench.acquire()}
        bench.send(*[messages.get(step, Release(0, INDEX, FIRST)) for step in order])
        bench.publisher.expect(Released)
        bound = bench.reader.take_all()
        assert len(bound) == (order[2] == "release")
        assert bench.slots() == 0

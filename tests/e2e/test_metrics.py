"""What a system says of itself to Prometheus."""

from __future__ import annotations

import threading

from prometheus_client.parser import text_string_to_metric_families

from pillion.actors import ActorSystem


def total(system: ActorSystem, name: str) -> float:
    """A metric, over all its series."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(system.metrics())
        for sample in family.samples
        if sample.name == name
    )


def test_steps_and_peeks_are_counted(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int}, key="id")
    index = system.create_index(orders, wait=True)
    for number in range(100):
        orders.insert((number,))
        index.lookup(number, timeout=60)  # with a deadline it goes through the actors
    index.peek()
    assert total(system, "pillion_peek_service_seconds_count") == 101
    assert total(system, "pillion_peek_queue_seconds_count") == 101
    assert total(system, "pillion_peek_service_seconds_sum") > 0
    assert total(system, "pillion_step_seconds_count") >= 100
    assert total(system, "pillion_peeks") == 0
    assert total(system, "pillion_index_merges_total") > 0


def test_a_peek_that_waits_is_seen_and_its_wait_is_measured(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    index = system.create_index(orders, wait=True)
    waiting = total(system, "pillion_peek_queue_seconds_sum")
    # The latest commit is not in the index yet when it is read: the peek waits until it is sealed.
    orders.insert([(number,) for number in range(100_000)])
    assert len(index.peek()) == 100_000
    assert total(system, "pillion_peek_queue_seconds_sum") > waiting


def test_it_can_be_read_by_any_thread_while_the_system_works(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    done = threading.Event()
    problems: list[BaseException] = []

    def scrape() -> None:
        try:
            while not done.is_set():
                system.metrics()
        except BaseException as error:
            problems.append(error)

    scraper = threading.Thread(target=scrape)
    scraper.start()
    for number in range(30):
        index = system.create_index(orders, name=f"i{number}")
        orders.insert((number,))
        index.peek()
        system.drop(index)
    done.set()
    scraper.join()
    assert problems == []


def test_a_stopped_system_still_says_what_it_did() -> None:
    with ActorSystem() as system:
        system.create_table("orders", {"id": int}).insert((1,))
    assert "pillion_step_seconds_count" in system.metrics()

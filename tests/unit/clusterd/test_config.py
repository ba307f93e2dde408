"""Layouts of runtimes: parsed and written back by value, refused in one sentence, derived for the second runtime."""

from __future__ import annotations

import pytest

from pillion.actors.clusterd.config import (
    TimelyConfig,
    UnusableConfig,
    check_one_process,
    parse_timely_config,
    prepare_interactive_compute_config,
)


def layout(workers: int, *addresses: str, process: int = 0) -> TimelyConfig:
    return TimelyConfig(workers, process, addresses)


def test_a_layout_is_parsed_by_value() -> None:
    parsed = parse_timely_config('{"workers":2,"process":1,"addresses":["127.0.0.1:2103","[::1]:2104"]}')
    assert parsed == layout(2, "127.0.0.1:2103", "[::1]:2104", process=1)


def test_what_is_written_is_parsed_to_the_same() -> None:
    config = layout(3, "a.example:1", "b.example:65535", process=1)
    assert parse_timely_config(config.to_json()) == config


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "this is not json"),
        ("workers=2", "this is not json"),
        ("[2]", r"at \$: given \[2\]"),
        ('{"workers":2,"process":0}', "addresses"),
        ('{"workers":"2","process":0,"addresses":["h:1"]}', r"at \$\.workers: given '2'"),
        ('{"workers":2.5,"process":0,"addresses":["h:1"]}', r"at \$\.workers: given 2\.5"),
        ('{"workers":true,"process":0,"addresses":["h:1"]}', r"at \$\.workers: given True"),
        ('{"workers":0,"process":0,"addresses":["h:1"]}', r"at \$\.workers: given 0"),
        ('{"workers":257,"process":0,"addresses":["h:1"]}', r"at \$\.workers: given 257"),
        ('{"workers":1,"process":-1,"addresses":["h:1"]}', r"at \$\.process: given -1"),
        ('{"workers":1,"process":0,"addresses":"h:1"}', r"at \$\.addresses"),
        ('{"workers":1,"process":0,"addresses":[1]}', r"at \$\.addresses\[0\]: given 1"),
        ('{"workers":1,"process":0,"addresses":["h:1"],"zero_copy":true}', "zero_copy"),
        ('{"workers":1,"process":0,"addresses":[]}', "addresses is empty"),
        ('{"workers":1,"process":0,"addresses":["h"]}', "'h' in addresses is not host:port"),
        ('{"workers":1,"process":0,"addresses":["h:65536"]}', "'h:65536' in addresses is not host:port"),
        ('{"workers":1,"process":1,"addresses":["h:1"]}', "process is 1, but addresses lists 1 process"),
        ("\udcff", "this is not json"),
    ],
)
def test_what_is_no_layout_is_refused_in_one_sentence(text: str, told: str) -> None:
    with pytest.raises(UnusableConfig, match=told) as refused:
        parse_timely_config(text)
    assert "\n" not in str(refused.value)


def test_a_long_text_is_not_repeated_in_whole() -> None:
    with pytest.raises(UnusableConfig) as refused:
        parse_timely_config("x" * 10_000)
    assert len(str(refused.value)) < 400


def test_the_interactive_layout_takes_over_the_process() -> None:
    maintenance = layout(2, "a:1", "b:1", "c:1", process=2)
    interactive = layout(2, "a:2", "b:2", "c:2")
    prepared = prepare_interactive_compute_config(maintenance, interactive)
    assert prepared == layout(2, "a:2", "b:2", "c:2", process=2)
    assert interactive.process == 0


def test_the_process_of_the_interactive_layout_counts_for_nothing() -> None:
    prepared = prepare_interactive_compute_config(layout(1, "a:1", "b:1"), layout(1, "a:2", "b:2", process=1))
    assert prepared.process == 0


def test_other_workers_per_process_are_refused() -> None:
    with pytest.raises(UnusableConfig, match=r"1 worker in each of 1 process, .* 2 workers in each of 1 process;"):
        prepare_interactive_compute_config(layout(2, "a:1"), layout(1, "a:2"))


def test_another_number_of_processes_is_refused() -> None:
    with pytest.raises(UnusableConfig, match=r"2 workers in each of 1 process, .* 2 workers in each of 2 processes;"):
        prepare_interactive_compute_config(layout(2, "a:1", "b:1"), layout(2, "a:2"))


def test_as_many_workers_in_another_shape_are_refused() -> None:
    with pytest.raises(UnusableConfig, match=r"2 workers in each of 2 processes, .* 4 workers in each of 1 process;"):
        prepare_interactive_compute_config(layout(4, "a:1"), layout(2, "a:2", "b:2"))
    with pytest.raises(UnusableConfig, match=r"4 workers in each of 1 process, .* 2 workers in each of 2 processes;"):
        prepare_interactive_compute_config(layout(2, "a:2", "b:2"), layout(4, "a:1"))


def test_several_processes_are_refused_where_one_can_run() -> None:
    check_one_process(layout(4, "a:1"))
    with pytest.raises(UnusableConfig, match="2 processes, and a replica runs in one"):
        check_one_process(layout(4, "a:1", "b:1"))

"""How the demo compares what was maintained with the batch recomputation."""

from __future__ import annotations

import pyarrow as pa

from pillion.actors.demo.batch import differences

REFERENCE = pa.table({"airline": ["HA", "UA"], "delay": [1.0 / 3, None]})


def test_order_and_the_last_digits_do_not_matter() -> None:
    maintained = pa.table({"delay": [None, 0.3333333333334], "airline": ["UA", "HA"]})
    assert differences(maintained, REFERENCE) == []


def test_a_wrong_value_is_shown_from_both_sides() -> None:
    maintained = pa.table({"airline": ["HA", "UA"], "delay": [0.5, None]})
    assert differences(maintained, REFERENCE) == [
        "only in the view: airline='HA', delay=0.5",
        "only in the batch result: airline='HA', delay=0.333333333",
    ]


def test_a_row_too_often_is_a_difference() -> None:
    maintained = pa.concat_tables([REFERENCE, REFERENCE.slice(1)])
    assert differences(maintained, REFERENCE) == ["only in the view: airline='UA', delay=None"]

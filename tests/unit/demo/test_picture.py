"""What the plot shows."""

from __future__ import annotations

from pillion.actors.demo.comparison import Course, summarized
from pillion.actors.demo.picture import Picture, picture_of

from .compared import READS, UNANSWERED, comparison, courses


def picture() -> Picture:
    arms = courses()
    return picture_of(comparison(arms), arms)


def test_every_lookup_is_a_point_of_its_arm() -> None:
    slow, fast = picture().panels
    assert len(slow.answered) == READS - UNANSWERED
    assert slow.waiting == [(3.5, 2.0), (3.6, 2.0), (3.7, 2.0), (3.8, 2.0), (3.9, 2.0)]
    assert (len(fast.answered), fast.waiting) == (READS, [])
    assert slow.title.endswith("(p50 500 ms)")


def test_the_axes_hold_all_points() -> None:
    whole = picture()
    assert (whole.seconds, whole.rounds) == (4.0, [2.0])
    assert [text for _, text in whole.decades] == ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
    assert whole.bottom < whole.lowest


def test_a_hydration_that_did_not_end_is_shown_to_the_end_of_its_round() -> None:
    slow, fast = picture().panels
    assert [(band.begin, band.end) for band in slow.bands] == [(0.0, 1.5), (1.5, 2.0), (2.0, 3.25)]
    assert fast.bands == []


def test_a_view_has_one_shade() -> None:
    first, second, third = picture().panels[0].bands
    assert first.shade == third.shade != second.shade


def test_the_legend_speaks_of_what_there_is() -> None:
    assert len(picture().legend) == 3
    fast = courses()[1:]
    assert (
        len(picture_of(comparison([Course(one.arm, one.reads, one.hydrations) for one in courses()]), fast).legend) == 2
    )


def test_a_lookup_that_took_no_time_has_a_place_on_the_axis() -> None:
    """A clock may be coarse."""
    arms = [Course(one.arm, [type(read)(read.due, 0.0, True) for read in one.reads], []) for one in courses()]
    whole = picture_of(comparison(arms), arms)
    assert whole.lowest < whole.highest
    assert {latency for panel in whole.panels for _, latency in panel.answered} == {1e-6}
    assert summarized(arms[0]).reads.maximum == 0.0

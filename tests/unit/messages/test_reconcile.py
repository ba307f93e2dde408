"""An installed dataflow is kept or not, for each reason."""

from __future__ import annotations

import msgspec
import pytest

from pillion.messages.dataflows import CopyTo, DataflowClass, MaterializedView, RenderDataflow, Subscribe
from pillion.messages.frontiers import Frontier
from pillion.messages.reconcile import InstalledDataflow, Reconciliation, reconcile

from .descriptions import dataflow, user


def installed(description: RenderDataflow, **compactions: Frontier) -> InstalledDataflow:
    """Installed, with allowed compactions like ``u1=5``."""
    return InstalledDataflow(description, {user(int(id[1:])): frontier for id, frontier in compactions.items()})


def reason(result: Reconciliation) -> str:
    """Why the single dataflow was recreated."""
    assert result.keep == ()
    assert len(result.drop) == len(result.create) == 1
    (text,) = result.reasons.values()
    return text


def test_the_same_is_kept() -> None:
    old, new = dataflow(1), dataflow(1)
    assert reconcile([installed(old)], [new]) == Reconciliation((new,), (), (), {})


@pytest.mark.parametrize(
    "new",
    [
        dataflow(1, as_of=3),
        dataflow(1, source_upper=9),
        dataflow(1, name="other"),
    ],
    ids=["later as_of", "source has moved on", "other name"],
)
def test_a_compatible_description_is_kept(new: RenderDataflow) -> None:
    result = reconcile([installed(dataflow(1))], [new])
    assert result.keep == (new,)
    assert not result.drop
    assert not result.create


def test_compaction_up_to_the_new_as_of_is_no_hindrance() -> None:
    assert reconcile([installed(dataflow(1, 2), u1=5, u2=4)], [dataflow(1, 2, as_of=5)]).keep


def test_compaction_of_one_export_past_the_new_as_of() -> None:
    result = reconcile([installed(dataflow(1, 2), u1=5, u2=6)], [dataflow(1, 2, as_of=5)])
    assert reason(result) == "u2 was allowed to compact to [6], past the as_of 5"


def test_a_dropped_export() -> None:
    result = reconcile([installed(dataflow(1, 2), u1=None)], [dataflow(1, 2, as_of=5)])
    assert reason(result) == "u1 was allowed to compact to [], past the as_of 5"


def test_an_earlier_as_of() -> None:
    result = reconcile([installed(dataflow(1, as_of=4))], [dataflow(1, as_of=3)])
    assert reason(result) == "its as_of 4 is later than the requested 3"


def test_another_plan() -> None:
    assert reason(reconcile([installed(dataflow(1))], [dataflow(1, negated=True)])) == "it differs in objects_to_build"


def test_another_until_or_class() -> None:
    bounded = msgspec.structs.replace(dataflow(1), until=1, dataflow_class=DataflowClass.ONE_SHOT_READ)
    assert reason(reconcile([installed(dataflow(1))], [bounded])) == "it differs in until, dataflow_class"


def test_a_materialized_view_is_kept() -> None:
    view = dataflow(sinks={1: MaterializedView(user(7))})
    assert reconcile([installed(view)], [view]).keep == (view,)


def test_a_materialized_view_of_another_shard() -> None:
    old, new = dataflow(sinks={1: MaterializedView(user(7))}), dataflow(sinks={1: MaterializedView(user(8))})
    assert reason(reconcile([installed(old)], [new])) == "it differs in sink_exports"


def test_a_subscribe_starts_anew() -> None:
    old = dataflow(sinks={1: Subscribe()})
    assert reason(reconcile([installed(old)], [old])) == "u1 is a subscribe: it starts anew"


def test_a_copy_to_starts_anew() -> None:
    old = dataflow(2, sinks={1: CopyTo("out.csv")})
    assert reason(reconcile([installed(old)], [old])) == "u1 is a copy-to: it starts anew"


def test_other_exports_are_another_dataflow() -> None:
    old, new = dataflow(1), dataflow(1, 2)
    result = reconcile([installed(old)], [new])
    assert result.drop == (installed(old),)
    assert result.create == (new,)
    assert result.reasons == {
        frozenset({user(1)}): "it is no longer requested",
        frozenset({user(1), user(2)}): "no dataflow with these exports is installed",
    }


def test_what_is_not_requested_is_dropped() -> None:
    old = installed(dataflow(1))
    assert reconcile([old], []).drop == (old,)


def test_what_is_not_installed_is_created() -> None:
    assert reconcile([], [dataflow(1)]).create == (dataflow(1),)


def test_an_importer_falls_with_its_import() -> None:
    base, over, over_that = dataflow(1), dataflow(2, imports=[1]), dataflow(3, imports=[2])
    unrelated = dataflow(4)
    result = reconcile(
        [installed(base, u1=6), installed(over), installed(over_that), installed(unrelated)],
        [msgspec.structs.replace(base, as_of=5), over, over_that, unrelated],
    )
    assert result.keep == (unrelated,)
    assert [d.description for d in result.drop] == [base, over, over_that]
    assert [d.export_ids for d in result.create] == [base.export_ids, over.export_ids, over_that.export_ids]
    assert result.reasons[frozenset({user(3)})] == "it imports u2, which is not kept"


def test_an_importer_stays_with_its_import() -> None:
    base, over = dataflow(1), dataflow(2, imports=[1])
    assert reconcile([installed(base), installed(over)], [base, over]).keep == (base, over)


def test_an_import_that_is_not_requested_any_more() -> None:
    base, over = dataflow(1), dataflow(2, imports=[1])
    result = reconcile([installed(base), installed(over)], [over])
    assert [d.description for d in result.drop] == [base, over]
    assert result.create == (over,)


def test_logging_indexes_stay() -> None:
    over = dataflow(2, imports=[1])
    assert reconcile([installed(over)], [over], logging={user(1)}).keep == (over,)


def test_a_dataflow_that_was_created_twice_meanwhile() -> None:
    old = dataflow(1)
    result = reconcile([installed(old)], [old, old])
    assert result.create == (old, old)
    assert result.drop == (installed(old),)

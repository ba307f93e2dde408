"""Relations of every kind, kept up to date by an index while tables change, against DuckDB on the same rows."""

from __future__ import annotations

import builtins
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from pillion.actors import (
    ActorSystem,
    Relation,
    Table,
    avg,
    col,
    concat,
    count,
    count_distinct,
    generate_series,
    max,
    median,
    min,
    percentile,
    split,
    std,
    string_agg,
    sum,
    udf,
    var,
    when,
)

Build = Callable[[Relation, Relation], Relation]


@udf("text")
def shout(text: str) -> str:
    return text.upper() + "!"


CASES: dict[str, tuple[Build, str]] = {
    "inner": (
        lambda a, b: a.join(b, on="k").select("id", "name"),
        "select a.id, b.name from a join b on a.k = b.k",
    ),
    "left": (
        lambda a, b: a.join(b, on="k", how="left").select("id", "k", "v", "name"),
        "select a.id, a.k, a.v, b.name from a left join b on a.k = b.k",
    ),
    "right": (
        lambda a, b: a.join(b, on="k", how="right").select("id", "k", "name"),
        "select a.id, b.k, b.name from a right join b on a.k = b.k",
    ),
    "full": (
        lambda a, b: a.join(b, on="k", how="full").select("id", "k", "name"),
        "select a.id, coalesce(a.k, b.k), b.name from a full join b on a.k = b.k",
    ),
    "semi": (
        lambda a, b: a.join(b, on="k", how="semi"),
        "select * from a where exists (select 1 from b where a.k = b.k)",
    ),
    "anti": (
        lambda a, b: a.join(b, on="k", how="anti"),
        "select * from a where not exists (select 1 from b where a.k = b.k)",
    ),
    "left join with a key": (
        lambda a, b: b.join(a, left_on="k", right_on="id", how="left").select("k", "name", "v"),
        "select b.k, b.name, a.v from b left join a on b.k = a.id",
    ),
    "right join with a key": (
        lambda a, b: b.join(a, left_on="k", right_on="id", how="right").select("k", "name", "v"),
        "select a.id, b.name, a.v from b right join a on b.k = a.id",
    ),
    "full join with a key": (
        lambda a, b: b.join(a, left_on="k", right_on="id", how="full").select("k", "name", "v"),
        "select coalesce(b.k, a.id), b.name, a.v from b full join a on b.k = a.id",
    ),
    "semi join with a key": (
        lambda a, b: b.join(a.filter(col("v") > 3), left_on="k", right_on="id", how="semi"),
        "select * from b where exists (select 1 from a where b.k = a.id and v > 3)",
    ),
    "anti join with a key": (
        lambda a, b: b.join(a.filter(col("v") > 3), left_on="k", right_on="id", how="anti"),
        "select * from b where not exists (select 1 from a where b.k = a.id and v > 3)",
    ),
    "left join with groups": (
        lambda a, b: a.join(b.group_by("k").agg(n=count()), on="k", how="left").select("id", "n"),
        "select a.id, c.n from a left join (select k, count(*) as n from b group by k) c on a.k = c.k",
    ),
    "full join of the best of each": (
        lambda a, b: a.top(1, by="v", per="k").join(b.unique("k"), on="k", how="full").select("id", "k", "name"),
        "select x.id, coalesce(x.k, y.k), y.name from "
        "(select distinct on (k) * from (select * from a order by k, v nulls last, id)) x full join "
        "(select distinct on (k) * from (select * from b order by k, name nulls last)) y on x.k = y.k",
    ),
    "cross": (
        lambda a, b: a.join(b, how="cross").filter(col("v") > col("k_right")).select("id", "name"),
        "select a.id, b.name from a, b where a.v > b.k",
    ),
    "left join of a left join": (
        lambda a, b: a.join(b, on="k", how="left").join(a.select(name="s", w="v"), on="name", how="left")
        .select("id", "name", "w"),
        "select a.id, b.name, c.v from a left join b on a.k = b.k left join a c on b.name = c.s",
    ),
    "grouped": (
        lambda a, b: a.group_by("k").agg(count(), n=count("v"), total=sum("v"), low=min("v"), high=max("v"),
                                         mean=avg("v"), kinds=count_distinct("s")),
        "select k, count(*), count(v), sum(v), min(v), max(v), avg(v), count(distinct s) from a group by k",
    ),
    "grouped without accumulation": (
        lambda a, b: a.group_by("k").agg(mid=median("v"), all_=string_agg("s", "+")),
        "select k, median(v), string_agg(s, '+' order by s) from a group by k",
    ),
    "spread": (
        lambda a, b: a.group_by("k").agg(v=var("v"), s=std("v"), p=percentile("v", 0.25)),
        "select k, var_samp(v), stddev_samp(v), quantile_cont(v, 0.25) from a group by k",
    ),
    "extremes of texts and of distinct values": (
        lambda a, b: a.group_by("k").agg(low=min("s"), high=max("s"), kinds=count_distinct("v")),
        "select k, min(s), max(s), count(distinct v) from a group by k",
    ),
    "exploded": (
        lambda a, b: a.filter(col("v").is_not_null()).explode(n=generate_series(1, col("v"), 3)).select("id", "n"),
        "select id, unnest(range(1, v + 1, 3)) from a where v is not null",
    ),
    "split": (
        lambda a, b: a.select("id", t=concat("s", "s", separator=",")).explode(part=split("t", ",")),
        "select id, s || ',' || s, unnest(string_split(s || ',' || s, ',')) from a where s is not null",
    ),
    "computed by the application": (
        lambda a, b: a.select("id", t=shout("s")).filter(col("t") != "Y!"),
        "select id, upper(s) || '!' from a where upper(s) || '!' <> 'Y!'",
    ),
    "global": (
        lambda a, b: a.filter(col("v") > 5).agg(count(), total=sum("v"), some=(col("v") > 8).any()),
        "select count(*), sum(v), bool_or(v > 8) from a where v > 5",
    ),
    "over a join": (
        lambda a, b: a.join(b, on="k").group_by("name").agg(n=count(), total=sum("v")).filter(col("n") > 1),
        "select name, count(*), sum(v) from a join b on a.k = b.k group by name having count(*) > 1",
    ),
    "top": (
        lambda a, b: a.top(2, by="v", per="k", descending=True),
        "select id, k, v, s from (select *, row_number() over "
        "(partition by k order by v desc nulls last, id) as n from a) where n <= 2",
    ),
    "top with offset": (
        lambda a, b: a.top(3, by=["s", "v"], offset=1),
        "select * from a order by s nulls last, v nulls last, id limit 3 offset 1",
    ),
    "distinct": (lambda a, b: a.distinct("k", "s"), "select distinct k, s from a"),
    "union": (
        lambda a, b: a.select("k").union(b.select("k")),
        "select k from a union all select k from b",
    ),
    "except": (
        lambda a, b: a.select("k").except_(b.select("k")),
        "select k from a except all select k from b",
    ),
    "intersect": (
        lambda a, b: a.select("k").intersect(b.select("k")),
        "select k from a intersect all select k from b",
    ),
    "expressions": (
        lambda a, b: a.select("id", x=col("v") / 3, y=col("v") // 3, z=when(col("v") > 4).then("big").otherwise("s"),
                              c=col("s").fill_null("-") + "!"),
        "select id, v / 3, v // 3, case when v > 4 then 'big' else 's' end, coalesce(s, '-') || '!' from a",
    ),
}  # fmt: skip

A = {"id": "bigint", "k": "bigint?", "v": "bigint?", "s": "text?"}
B = {"k": "integer?", "name": "text?"}


def random_a(chance: random.Random, id: int) -> tuple[Any, ...]:
    return id, chance.choice([1, 2, 3, None]), chance.choice([*range(10), None]), chance.choice(["x", "y", "z", None])


def random_b(chance: random.Random) -> tuple[Any, ...]:
    return chance.choice([1, 2, 3, 4, None]), chance.choice(["x", "y", None])


def expected(query: str, a: Counter[Any], b: Counter[Any]) -> Counter[Any]:
    connection = duckdb.connect()
    connection.execute("create table a (id bigint, k bigint, v bigint, s text)")
    connection.execute("create table b (k integer, name text)")
    for table, rows in (("a", a), ("b", b)):
        marks = ", ".join("?" * (4 if table == "a" else 2))
        for row in rows.elements():
            connection.execute(f"insert into {table} values ({marks})", row)
    return counted(connection.execute(query).fetchall())


def counted(rows: Any) -> Counter[Any]:
    """Rows with multiplicities; doubles to as many digits as different orders of summation agree on."""
    return Counter(tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in rows)


def change(chance: random.Random, system: ActorSystem, a: Table, b: Table, in_a: Any, in_b: Any, ids: int) -> None:
    """Some insertions and deletions of both tables, in one transaction."""
    new_a = [random_a(chance, ids + i) for i in range(chance.randrange(4))]
    new_b = [random_b(chance) for _ in range(chance.randrange(3))]
    old_a = chance.sample(sorted(in_a.elements(), key=repr), k=builtins.min(in_a.total(), chance.randrange(3)))
    old_b = chance.sample(sorted(in_b.elements(), key=repr), k=builtins.min(in_b.total(), chance.randrange(2)))
    with system.transaction() as tx:
        tx.delete(a, old_a)
        tx.delete(b, old_b)
        tx.insert(a, new_a)
        tx.insert(b, new_b)
    in_a.update(new_a)
    in_b.update(new_b)
    in_a.subtract(old_a)
    in_b.subtract(old_b)


@pytest.mark.parametrize("name", CASES)
def test_kept_up_to_date(system: ActorSystem, name: str) -> None:
    build, query = CASES[name]
    chance = random.Random(name)
    a, b = system.create_table("a", A, key="id"), system.create_table("b", B)
    in_a, in_b = Counter(random_a(chance, i) for i in range(8)), Counter(random_b(chance) for _ in range(6))
    a.insert(list(in_a.elements()))
    relation = build(a, b)
    index = system.create_index(relation, name="kept")
    view = system.materialized_view("stored", relation)
    b.insert(list(in_b.elements()))
    with system.subscribe(relation) as subscription:
        integrated: Counter[Any] = Counter()
        for step in range(6):
            change(chance, system, a, b, in_a, in_b, 100 * (step + 1))
            right = expected(query, in_a, in_b)
            peeked = index.peek()
            assert counted(peeked) == right
            assert counted(system.query(relation)) == right
            assert counted(system.query(view)) == right
            for batch in subscription.until(peeked.timestamp):
                for _, diff, row in batch:
                    integrated[row] += diff
            assert counted(integrated.elements()) == right


def test_a_view_over_views(system: ActorSystem) -> None:
    a = system.create_table("a", A)
    sums = system.view("sums", a.group_by("k").agg(total=sum("v")))
    index = system.create_index(sums, key="k")
    big = system.view("big", sums.filter(col("total") > 10))
    above = system.create_index(big.agg(count(), top=max("total")), name="above")
    a.insert([(1, 1, 8, None), (2, 1, 8, None), (3, 2, 1, None)])
    assert above.peek().one() == (1, 16)
    assert index.lookup(2).one() == (2, 1)
    a.delete(where=col("id") == 1)
    assert above.peek().one() == (0, None)

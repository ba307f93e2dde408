"""What somebody may look for here under the name that another library has for it, and what to write instead.

Polars, pandas, SQL and Spark differ in names; an unknown attribute says the name that this project has.
"""

from __future__ import annotations

from collections.abc import Mapping

from .errors import suggestion

_QUERY_IT = "a relation has no rows before it is queried: system.query(relation), then .rows(), .to_arrow(), …"
_NO_ORDER = "a relation has no order: system.query(relation, order_by=…), or .top(n, by=…) for the first n"
_AGGREGATE = ".agg(…) for everything, .group_by(…).agg(…) in groups: agg(count(), total=col('amount').sum())"
_NEIGHBOURS = "rows have no neighbours; take the best of each group with .top(n, by=…, per=…)"
_DAYS = "nothing: the difference of two timestamps is a number of days already; * 24 makes hours of it"

OF_RELATIONS: Mapping[str, str] = {
    "where": ".filter(condition)",
    **dict.fromkeys(("sort", "sort_values", "order_by", "orderby", "orderBy"), _NO_ORDER),
    **dict.fromkeys(("groupby", "groupBy"), ".group_by(…)"),
    **dict.fromkeys(("head", "take", "fetch"), ".limit(n)"),
    **dict.fromkeys(("tail", "first", "last", "nlargest", "nsmallest", "top_k", "bottom_k"), ".top(n, by=…, per=…)"),
    **dict.fromkeys(("rows", "dicts", "collect", "fetchall", "execute", "query", "show"), _QUERY_IT),
    **dict.fromkeys(("to_arrow", "to_pandas", "to_polars", "to_dicts", "to_pylist"), _QUERY_IT),
    **dict.fromkeys(("assign", "withColumn", "with_column", "mutate"), ".with_columns(…)"),
    **dict.fromkeys(("merge", "join_where"), ".join(other, on=…)"),
    **dict.fromkeys(("union_all", "concat", "vstack", "extend", "append"), ".union(other)"),
    **dict.fromkeys(("except_all", "subtract", "difference", "minus"), ".except_(other)"),
    **dict.fromkeys(("intersect_all", "intersection"), ".intersect(other)"),
    **dict.fromkeys(("drop_duplicates", "dropDuplicates"), ".unique(…)"),
    **dict.fromkeys(("aggregate", "count", "len", "height", "sum", "min", "max", "mean", "avg"), _AGGREGATE),
    **dict.fromkeys(("lookup", "peek"), "only an index has it: system.create_index(relation, key=…)"),
    **dict.fromkeys(("insert", "upsert", "delete", "update"), "only a table has it: change what the relation is from"),
    "subscribe": "system.subscribe(relation)",
    "dtypes": ".schema",
}
"""For attributes of relations, tables and views."""

OF_GROUPS: Mapping[str, str] = {
    "len": ".count()",
    **dict.fromkeys(("sum", "min", "max", "mean", "avg", "median", "n_unique", "aggregate"), _AGGREGATE),
    **dict.fromkeys(("head", "first", "last", "tail"), "relation.top(n, by=…, per=…), without group_by"),
    **dict.fromkeys(("having", "filter"), ".agg(…).filter(condition)"),
}
"""For attributes of ``relation.group_by(…)``."""

OF_EXPRESSIONS: Mapping[str, str] = {
    "filter": "count(when(condition).then(1)), sum(when(condition).then(col('amount'))): an aggregate leaves out NULL",
    **dict.fromkeys(("isin", "in_"), ".is_in([…])"),
    **dict.fromkeys(("isna", "isnull"), ".is_null()"),
    **dict.fromkeys(("notna", "notnull"), ".is_not_null()"),
    **dict.fromkeys(("fillna", "coalesce"), ".fill_null(value)"),
    **dict.fromkeys(("astype", "as_type"), ".cast(type)"),
    **dict.fromkeys(("as_", "label", "name"), ".alias(name)"),
    **dict.fromkeys(("apply", "map", "pipe"), ".map_elements(function, returns), or a function under @udf(returns)"),
    **dict.fromkeys(("desc", "asc", "sort"), "descending= beside by= or order_by="),
    **dict.fromkeys(("over", "shift", "lag", "lead", "diff", "rank", "cum_sum", "cumsum", "rolling"), _NEIGHBOURS),
    **dict.fromkeys(("first", "last", "arg_max", "arg_min"), "relation.top(1, by=…, per=…)"),
    **dict.fromkeys(("len", "size"), "count()"),
    **dict.fromkeys(("eq", "equals"), "=="),
    **dict.fromkeys(("like", "contains", "starts_with", "replace"), "the functions of text: .str.…"),
    **dict.fromkeys(("year", "month", "day", "hour", "date", "truncate"), "the functions of dates: .dt.…"),
    "nunique": ".n_unique()",
    "div": "/",
    "floordiv": "//",
}
"""For attributes of expressions."""

OF_TEXT: Mapping[str, str] = {
    "upper": ".to_uppercase()",
    "lower": ".to_lowercase()",
    **dict.fromkeys(("len", "length", "len_bytes", "char_length"), ".len_chars()"),
    **dict.fromkeys(("strip", "trim"), ".strip_chars()"),
    **dict.fromkeys(("lstrip", "ltrim"), ".strip_chars_start()"),
    **dict.fromkeys(("rstrip", "rtrim"), ".strip_chars_end()"),
    **dict.fromkeys(("startswith", "startsWith"), ".starts_with(prefix)"),
    **dict.fromkeys(("endswith", "endsWith"), ".ends_with(suffix)"),
    "replace": ".replace_all(old, new)",
    "split": "relation.explode(word=split('text', ' ')), or .split_part(…)",
    **dict.fromkeys(("strptime", "to_time"), ".to_date(…) or .to_datetime(…)"),
    **dict.fromkeys(("substr", "substring"), ".slice(start, length)"),
}
"""For attributes of ``expression.str``."""

OF_DATES: Mapping[str, str] = {
    **dict.fromkeys(("total_days", "total_hours", "total_minutes", "total_seconds"), _DAYS),
    "timestamp": ".epoch(), seconds since 1970",
    **dict.fromkeys(("dayofweek", "day_of_week", "isodow", "dow"), ".weekday()"),
    **dict.fromkeys(("dayofyear", "day_of_year", "doy"), ".ordinal_day()"),
    **dict.fromkeys(("floor", "trunc", "round"), ".truncate(unit)"),
}
"""For attributes of ``expression.dt``."""

_RELATE = "the relation that it is on has it, and system.query reads that: system.query(relation.group_by(…).agg(…))"

OF_RESULTS: Mapping[str, str] = {
    **dict.fromkeys(("fetchall", "fetch_all", "all", "to_list", "tolist", "values", "iter_rows", "items"), ".rows()"),
    **dict.fromkeys(("to_dicts", "to_pylist", "mappings", "to_dict"), ".dicts()"),
    **dict.fromkeys(("fetchone", "first"), ".one(), or .one_or_none() where there may be no row"),
    **dict.fromkeys(("item", "value", "scalar_one"), ".scalar()"),
    **dict.fromkeys(("df", "fetchdf", "toPandas"), ".to_pandas()"),
    "pl": ".to_polars()",
    **dict.fromkeys(("arrow", "fetch_arrow_table", "table"), ".to_arrow()"),
    **dict.fromkeys(("get_column", "select"), ".column(name)"),
    **dict.fromkeys(("shape", "height", "rowcount", "num_rows", "count"), "len(result) and result.columns"),
    **dict.fromkeys(("sort", "order_by", "filter", "group_by", "limit"), "arguments of the read, or a relation"),
}
"""For attributes of results."""

OF_INDEXES: Mapping[str, str] = {
    "get": ".lookup(key)",
    **dict.fromkeys(("query", "rows", "scan", "filter", "where", "select", "to_arrow", "to_pandas"), ".peek(…)"),
    **dict.fromkeys(("group_by", "join", "agg", "explain", "top", "with_columns", "subscribe"), _RELATE),
    **dict.fromkeys(("insert", "upsert", "delete", "update"), "only a table has it, and its indexes follow"),
    "drop": "system.drop(index)",
}
"""For attributes of indexes."""

OF_SYSTEMS: Mapping[str, str] = {
    **dict.fromkeys(("sql", "execute"), "system.query(relation): there is no SQL, but a method for each clause"),
    **dict.fromkeys(("tables", "views", "indexes", "list", "catalog"), ".collections()"),
    **dict.fromkeys(("create_view", "define"), ".view(name, relation)"),
    **dict.fromkeys(("create_materialized_view", "materialize"), ".materialized_view(name, relation)"),
    **dict.fromkeys(("begin", "commit", "rollback"), "with system.transaction() as tx: …"),
    **dict.fromkeys(("insert", "upsert", "delete", "update"), "table.…, or with system.transaction() as tx: tx.…"),
    **dict.fromkeys(("lookup", "peek"), "index.…"),
    **dict.fromkeys(("close", "shutdown"), ".stop()"),
    **dict.fromkeys(("read", "select", "collect"), ".query(relation)"),
    **dict.fromkeys(("watch", "listen", "follow", "on_change"), ".subscribe(relation)"),
    **dict.fromkeys(("now", "timestamp"), "the .timestamp of what a write or a read returns"),
}
"""For attributes of systems."""


def no_attribute(owner: object, name: str, what: str, names: Mapping[str, str]) -> AttributeError:
    """The error for an attribute that an object does not have, with what to write instead."""
    if name in names:
        problem = f"{what} has no {name!r}; write {names[name]}"
    else:
        known = [other for other in dir(type(owner)) if not other.startswith("_")]
        close = suggestion(name, known)
        problem = f"{what} has no {name!r}{close if 'did you mean' in close else ''}"
    # Neither name nor obj of the error is set, so that Python adds no suggestion of its own to this one.
    return AttributeError(problem)

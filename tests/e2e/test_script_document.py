"""The scripts in docs/protocol-scripts.md print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

from pillion.actors.scripts.runner import PASSED, run_scripts

PAGE = Path(__file__).parents[2] / "docs" / "protocol-scripts.md"

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

BEFORE_THE_DATAFLOW = """\
define-schema name=kv
  k bigint
  v bigint
----
ok

write-rows shard=orders ts=0 schema=kv
  1 10
  1 20
----
wrote 2

define-index source=900 index=1001 shard=orders key=[0] as-of=0 upper=1 schema=kv
----
ok

"""


def test_scripts_of_the_page(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    whole, dataflow = (body for language, body in blocks if not language)
    (tmp_path / "whole.spec").write_text(whole, encoding="utf-8")
    (tmp_path / "dataflow.spec").write_text(BEFORE_THE_DATAFLOW + dataflow, encoding="utf-8")
    assert run_scripts([tmp_path / "whole.spec", tmp_path / "dataflow.spec"]) == PASSED

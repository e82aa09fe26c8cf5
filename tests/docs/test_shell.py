"""Tests of running a page's examples: which lines are examples, ran or failed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.docs import shell
from tests.docs.example_servers import engine_serving

PAGE = """Prose with `curl nothing`.

```
curl $URL/_search -d '{}' | cat > answer.json
call() {
  curl $URL/_search -d '{}'
}
[ -s missing ] || call
```

```json
{"not": "a command"}
```

```
cat > file.txt <<'END'
not a command
END
curl $URL/wrong -d '{}'
false
echo $UNKNOWN
curl $URL/never -d '{}'
```
"""


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
def test_failed_and_missing_lines_are_detected(tmp_path: Path) -> None:
    script = shell.examples(PAGE)
    with engine_serving() as engine:
        environment = {**os.environ, "URL": engine.url, "NO_PROXY": "127.0.0.1"}
        outcomes = {one.line: one for one in shell.run(script, folder=tmp_path, environment=environment, seconds=60)}
    assert '"took": 1' in (tmp_path / "answer.json").read_text()
    assert [line for line, one in outcomes.items() if one.failed] == [19, 20, 21, 22]
    assert (outcomes[4].statuses, outcomes[8].statuses, outcomes[19].statuses) == ([200], [200], [404])
    assert outcomes[20].exits == [1]
    assert not outcomes[22].ran


def test_a_page_without_examples() -> None:
    assert shell.examples("# Title\n\n```python\ncurl x\n```\n").strip() == ""

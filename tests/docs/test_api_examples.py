"""Tests of the examples of docs/api.md: every call, in order, in a real shell against a real server."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs import shell
from tests.docs.demo import demo_server, environment
from tests.docs.example_servers import engine_serving, model_answer
from tests.model_server import serving

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "api.md"
NEEDED = [name for name in ("bash", "curl") if shutil.which(name) is None]


@pytest.mark.slow
@pytest.mark.skipif(bool(NEEDED), reason=f"the examples need {' and '.join(NEEDED)}")
def test_every_example_of_the_api_page_runs_in_order(own_var: Path) -> None:
    script = shell.examples(PAGE.read_text(encoding="utf-8"))
    folder = own_var / "assay"
    folder.mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "manage.py").symlink_to(ROOT / "manage.py")
    settings = dict(re.findall(r"(\w+)=(\S+)", script.partition("export SERVER=")[0]))
    settings["ASSAY_VAR"] = str(own_var)
    with (
        serving(model_answer) as model,
        engine_serving() as engine,
        demo_server(own_var / "server.log", settings) as server,
    ):
        places = {"ASSAY_VAR": str(own_var), "SERVER": server}
        places |= {"ENGINE_URL": engine.url, "MODEL_URL": f"{model.url}/v1"}
        for name, place in places.items():
            script, replaced = re.subn(rf"^export {name}=\S+", f"export {name}={place}", script, flags=re.M)
            assert replaced == 1, f"the page says once where {name} is"
        outcomes = shell.run(script, folder=folder, environment=environment(), seconds=1200)
    failed = [str(one) for one in outcomes if one.failed]
    assert not failed, f"{len(failed)} lines of {PAGE.name} failed, the first of them:\n\n" + "\n\n".join(failed[:5])

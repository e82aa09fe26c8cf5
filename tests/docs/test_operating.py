"""Tests of the commands of docs/operating.md: those of `manage.py` have these options, and its grants take effect."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command, get_commands, load_command_class

from judgments.models import Grant

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(?:.*\| )?(?:python manage\.py|manage\.py|assay-manage) (.+)$", PAGE, re.M)


@pytest.mark.parametrize("line", COMMANDS)
def test_options_of_the_page_exist(line: str) -> None:
    name, *words = shlex.split(line, comments=True)
    app = get_commands()[name]
    command = load_command_class(app, name) if isinstance(app, str) else app
    command.create_parser("manage.py", name).parse_args(words)


@pytest.mark.django_db
def test_grants_of_the_page_take_effect(collection: Any, settings: Any) -> None:
    Grant.objects.all().delete()
    settings.CONNECTOR_HOSTS = ["search.example.com:9200"]
    settings.PROVIDER_HOSTS = ["api.openai.com"]
    settings.WEBHOOK_HOSTS = ["hooks.example.com"]
    settings.CONNECTOR_FOLDERS = [Path("/data/connectors/shop")]
    first, *more = [line for line in COMMANDS if line.startswith("grant")]
    call_command(*shlex.split(first, comments=True))
    assert set(Grant.objects.values_list("value", flat=True)) == {"search.example.com:9200", "/data/connectors/shop"}
    for line in more:
        call_command(*shlex.split(line, comments=True))
    assert not Grant.objects.filter(value="search.example.com:9200").exists()

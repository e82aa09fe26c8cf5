"""View of the OpenAPI schema of the API.

The schema comes from a file that ``make schema`` writes: generating it takes seconds of processor time, and requests
need no login. JSON is also valid YAML, so one file serves clients of both.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

FILE = Path(__file__).with_name("openapi.json")


@cache
def _content() -> tuple[bytes, str]:
    content = json.dumps(json.loads(FILE.read_bytes()), separators=(",", ":"), ensure_ascii=False).encode()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


@require_safe
@condition(etag_func=lambda request: _content()[1])
def schema(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document."""
    headers = {"Content-Disposition": 'inline; filename="assay-openapi.json"'}
    return HttpResponse(_content()[0], content_type="application/vnd.oai.openapi+json", headers=headers)

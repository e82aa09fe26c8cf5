"""Template tag for the top bar: the number of unread notices."""

from __future__ import annotations

from typing import Any

from django import template

from judgments.notices import notices

register = template.Library()


@register.simple_tag
def unread_notices(user: Any) -> int:
    return notices.unread(user)

"""Duplicates of a pool, with an action to judge one separately."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from judgments.charts import table_files
from judgments.web import access
from judgments.web.lists import Column
from judgments.web.pages import errors_as_messages, post_action
from judgments.web.posted_values import searchable
from pooling.models import Pool
from pooling.pools import duplicates
from pooling.pools.forms import PoolForm

# Number of rows on the page, by default and expanded; the file has every row.
SHOWN, MOST = 20, 1_000


def _why(row: Mapping[str, Any]) -> str:
    return "equal" if row["why"] == "exact" else f"{row['similarity']:.0%} similar"


GROUPS = (
    Column("query", "Query", head=True, style="clip"),
    Column("title", "Judged", style="clip"),
    Column("rank", "Rank", numeric=True),
    Column("copy_title", "Duplicate", style="clip"),
    Column("copy_rank", "Rank", numeric=True),
    Column("why", "Similarity", value=_why),
    Column("query_id", "Query id", style="id clip"),
    Column("doc_id", "Judged id", style="id"),
    Column("copy_id", "Duplicate’s id", style="id"),
)


def shown(groups: Sequence[Mapping[str, Any]], form: PoolForm | None = None, *, whole: bool = False) -> dict[str, Any]:
    """Return the context of ``_duplicates.html``; with a form, also the URLs that judge one separately."""
    rows = [{**row, "shown_why": _why(row)} for row in groups[: MOST if whole else SHOWN]]
    if form is not None:
        for row in rows:
            pair = json.dumps([row["query_id"], row["copy_id"]], ensure_ascii=False)
            row["apart"] = f"?{form.query(('apart', pair))}"
    apart = [(pair, f"?{form.without_apart(pair)}") for pair in form.choice["apart"]] if form else []
    return {
        "groups": rows,
        "more_groups": len(groups) - len(rows),
        "whole_groups": whole,
        "apart": apart,
        "group_tables": (table_files.small("duplicates", ("duplicate", "duplicates"), GROUPS, groups),)
        if groups
        else (),
    }


def of_pool(pool: Pool, *, whole: bool = False) -> dict[str, Any]:
    """Return the context for a drawn pool."""
    groups = duplicates.groups_of(pool) if pool.summary.get("copies") else []
    return shown([asdict(group) for group in groups], whole=whole)


@post_action
def pool_apart(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    pool = access.reach(Pool.objects.filter(collection=collection), request.user, access.LEADS, uuid=uuid)
    query_id, doc_id = (searchable(request.POST.get(name, "")) for name in ("query_id", "doc_id"))
    with errors_as_messages(request):
        duplicates.judge_separately(pool, query_id=query_id, doc_id=doc_id, actor=request.user)
        messages.success(request, f"{doc_id} is now judged separately, as the last pair of this pool.")
    return redirect("pool", collection.slug, pool.uuid)

"""Renames of fields in the state alone: the columns keep their names, so that no SQL runs."""

from __future__ import annotations

from typing import ClassVar

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FLAG = {"default": False}
RENAMES = [
    ("job", "cancel_asked", "cancel_requested", models.BooleanField(db_column="cancel_asked", **FLAG)),
    ("pair", "settled", "resolved", models.BooleanField(db_column="settled", **FLAG)),
    (
        "adjudication",
        "settled_by",
        "resolved_by",
        models.ForeignKey(
            db_column="settled_by_id",
            on_delete=django.db.models.deletion.PROTECT,
            related_name="+",
            to=settings.AUTH_USER_MODEL,
        ),
    ),
    ("judge", "told", "inputs", models.JSONField(db_column="told", default=dict)),
    ("battlerun", "told", "inputs", models.JSONField(db_column="told")),
    *(
        (model, "said", "end_message", models.TextField(blank=True, db_column="said"))
        for model in ("judgerun", "battlerun")
    ),
    *(
        (model, "pause_asked", "pause_requested", models.BooleanField(db_column="pause_asked", **FLAG))
        for model in ("judgerun", "battlerun")
    ),
    *(
        (model, "model_asked", "requested_model", models.CharField(db_column="model_asked", max_length=200))
        for model in ("modelcall", "battle", "battlecanary")
    ),
]


class Migration(migrations.Migration):
    dependencies: ClassVar = [("judgments", "0025_questions_apart")]
    operations: ClassVar = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                operation
                for model, old, new, field in RENAMES
                for operation in (
                    migrations.RenameField(model, old, new),
                    migrations.AlterField(model, new, field),
                )
            ]
        )
    ]

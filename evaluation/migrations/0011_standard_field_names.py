"""Renames of fields in the state alone: the columns keep their names, so that no SQL runs."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models

RENAMES = [
    ("ragcriticrun", "said", "end_message", models.TextField(blank=True, db_column="said")),
    ("ragcriticrun", "pause_asked", "pause_requested", models.BooleanField(db_column="pause_asked", default=False)),
    ("ragcriticcall", "model_asked", "requested_model", models.CharField(db_column="model_asked", max_length=200)),
]


class Migration(migrations.Migration):
    dependencies: ClassVar = [("evaluation", "0010_round_effect_effects")]
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

"""Resolutions that undo another one, and the act that a resolution of many belongs to."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import django.db.models.deletion
from django.db import migrations, models


def restore_triggers(apps: Any, schema_editor: Any) -> None:
    """SQLite copies a table to change it, and its triggers are lost."""
    vendor = schema_editor.connection.vendor
    if vendor == "postgresql":
        return
    earlier = ("0002_events_never_change", "0022_events_never_vanish")
    for name in earlier:
        for statement in import_module(f"judgments.migrations.{name}").statements(vendor):
            if " ON judgments_adjudication " in statement:
                schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("judgments", "0030_roles_and_result_templates")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="adjudication",
            name="act",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="resolutions",
                to="judgments.auditrow",
            ),
        ),
        migrations.AlterField(model_name="adjudication", name="grade", field=models.SmallIntegerField(null=True)),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.CheckConstraint(
                condition=models.Q(("grade__isnull", False), ("supersedes__isnull", False), _connector="OR"),
                name="adjudication_undoes_another",
            ),
        ),
        migrations.RunPython(restore_triggers, migrations.RunPython.noop),
    ]

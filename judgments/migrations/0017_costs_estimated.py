from typing import Any

from django.db import migrations, models

MODELS = ("modelcall", "battle", "battlecanary")


def refuse_changes_again(apps: Any, schema_editor: Any) -> None:
    """SQLite makes a table anew for another column, and its triggers are gone with the old one."""
    if schema_editor.connection.vendor != "sqlite":
        return
    for table in MODELS:
        for act in ("UPDATE", "DELETE"):
            schema_editor.execute(
                f"CREATE TRIGGER IF NOT EXISTS judgments_{table}_never_{act.lower()}s BEFORE {act} "
                f"ON judgments_{table} "
                "BEGIN SELECT RAISE(ABORT, 'these rows are events: add one, never change or delete one'); END",
                params=None,
            )


class Migration(migrations.Migration):
    dependencies = [
        ("judgments", "0016_invite_links"),
    ]

    operations = [
        *(
            migrations.AddField(model_name=model, name=name, field=field)
            for model in MODELS
            for name, field in (
                ("cost_estimated", models.BooleanField(default=False)),
                ("left_out", models.JSONField(default=list)),
            )
        ),
        migrations.RunPython(refuse_changes_again, migrations.RunPython.noop),
    ]

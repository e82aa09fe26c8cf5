from importlib import import_module

from django.db import migrations

rights = import_module("judgments.migrations.0018_rights_and_grants")


def keep_access(apps, schema_editor):
    """A collection keeps the engines and the files that its connectors use."""
    Grant = apps.get_model("judgments", "Grant")
    strange = set(rights.made_by_invited_raters(apps).values_list("pk", flat=True))
    wanted = set()
    for collection, told in apps.get_model("pooling", "Connector").objects.values_list("collection_id", "settings"):
        if told.get("path"):
            wanted.add((collection, "connector-folder", told["path"][:500]))
        elif told.get("host"):
            host = f"[{told['host']}]" if ":" in told["host"] else told["host"]
            wanted.add((collection, "connector-host", f"{host}:{told.get('port') or '5432'}"[:500]))
        elif told.get("address"):
            if place := rights.host_of(told["address"]):
                wanted.add((collection, "connector-host", place))
    Grant.objects.bulk_create(
        [
            Grant(collection_id=collection, kind=kind, value=value)
            for collection, kind, value in sorted(wanted)
            if collection not in strange
        ],
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("judgments", "0018_rights_and_grants"),
        ("pooling", "0007_run_baseline"),
    ]

    operations = [migrations.RunPython(keep_access, migrations.RunPython.noop)]

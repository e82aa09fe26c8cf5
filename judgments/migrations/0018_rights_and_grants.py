import uuid
from datetime import timedelta
from urllib.parse import urlsplit

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

PORTS = {"http": 80, "https": 443}
DEFAULT_LOCAL_MODEL = "all-MiniLM-L6-v2"


def made_by_invited_raters(apps):
    """The collections that accounts made by an invitation link created themselves: that was never meant to be possible."""
    Collection = apps.get_model("judgments", "Collection")
    InviteLink = apps.get_model("judgments", "InviteLink")
    links = InviteLink.objects.filter(used_by__isnull=False).select_related("used_by")
    # An account that a link made came into being in the moment in which the link was used; others only joined by it.
    invited = [link.used_by_id for link in links if abs(link.used_at - link.used_by.date_joined) < timedelta(minutes=1)]
    return Collection.objects.filter(created_by__in=invited)


def host_of(url):
    """``host:port`` of an address; None where it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 443)
    except ValueError:
        return None
    host = parts.hostname
    return f"[{host}]:{port}" if host and ":" in host else f"{host}:{port}" if host else None


def keep_rights(apps, schema_editor):
    """Whoever leads a collection may create more; a collection keeps the providers and models that it uses."""
    User = apps.get_model("judgments", "User")
    Grant = apps.get_model("judgments", "Grant")
    strange = set(made_by_invited_raters(apps).values_list("pk", flat=True))
    Membership = apps.get_model("judgments", "Membership")
    leads = Membership.objects.filter(role="lead").exclude(collection__in=strange).values_list("user_id", flat=True)
    User.objects.filter(pk__in=set(leads)).update(can_create_collections=True)
    wanted = set()
    for collection, url in apps.get_model("judgments", "Provider").objects.values_list("collection_id", "base_url"):
        if place := host_of(url):
            wanted.add((collection, "provider-host", place))
    for collection, parameters in apps.get_model("judgments", "Judge").objects.filter(provider=None).values_list(
        "collection_id", "parameters"
    ):
        model = parameters.get("model") if isinstance(parameters, dict) else None
        if isinstance(model, str) and model and model != DEFAULT_LOCAL_MODEL:
            wanted.add((collection, "local-model", model[:500]))
    Grant.objects.bulk_create(
        Grant(collection_id=collection, kind=kind, value=value)
        for collection, kind, value in sorted(wanted)
        if collection not in strange
    )


class Migration(migrations.Migration):
    dependencies = [
        ("judgments", "0017_costs_estimated"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="can_create_collections",
            field=models.BooleanField(
                default=False, help_text="Whether the person may create collections, which they then lead."
            ),
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("connector-host", "host that connectors may query"),
                            ("connector-folder", "folder or file that connectors may read"),
                            ("provider-host", "host of a model provider"),
                            ("local-model", "model that judges may load on the server"),
                        ],
                        max_length=20,
                    ),
                ),
                ("value", models.CharField(max_length=500)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "collection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="grants", to="judgments.collection"
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["collection", "kind", "value"],
                "constraints": [
                    models.UniqueConstraint(fields=("collection", "kind", "value"), name="grant_once")
                ],
            },
        ),
        migrations.RunPython(keep_rights, migrations.RunPython.noop),
    ]

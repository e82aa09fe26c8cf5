from django.db import migrations, models


class Migration(migrations.Migration):
    """Battles that are there already drew no slice, and their anchors may be anywhere: theirs is a share of 0."""

    dependencies = [
        ("judgments", "0014_battle_canaries_and_waits"),
    ]

    operations = [
        migrations.AddField(
            model_name="battlerun",
            name="audit_share",
            field=models.FloatField(default=0.0),
        ),
        migrations.AlterField(
            model_name="battlerun",
            name="audit_share",
            field=models.FloatField(default=0.1),
        ),
        migrations.AddConstraint(
            model_name="battlerun",
            constraint=models.CheckConstraint(
                condition=models.Q(("audit_share__gte", 0), ("audit_share__lte", 1)), name="battle_run_audits_a_share"
            ),
        ),
    ]

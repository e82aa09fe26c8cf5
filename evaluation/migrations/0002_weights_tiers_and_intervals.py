import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("evaluation", "0001_initial")]

    operations = [
        migrations.AddField("scoring", "design", models.JSONField(default=dict)),
        migrations.AddField("score", "weighted", models.FloatField(null=True)),
        migrations.AddField("score", "weighted_low", models.FloatField(null=True)),
        migrations.AddField("score", "weighted_high", models.FloatField(null=True)),
        migrations.AddField("score", "effective_queries", models.FloatField(null=True)),
        migrations.AddField("score", "weighted_reason", models.CharField(blank=True, max_length=200)),
        migrations.AddField("score", "by_tier", models.JSONField(default=dict)),
        migrations.AddField("score", "level", models.FloatField(default=0.95)),
        migrations.AddField("score", "method", models.CharField(default="percentile", max_length=20)),
        migrations.AddField(
            "score",
            "computed_at",
            models.DateTimeField(auto_now=True, default=django.utils.timezone.now),
            preserve_default=False,
        ),
    ]

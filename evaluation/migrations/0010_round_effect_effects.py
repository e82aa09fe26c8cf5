from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename the field RoundEffect.found to effects; the column stays."""

    dependencies = [
        ('evaluation', '0009_rag_critics'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField('RoundEffect', 'found', 'effects'),
                migrations.AlterField('RoundEffect', 'effects', models.JSONField(db_column='found')),
            ],
        ),
    ]

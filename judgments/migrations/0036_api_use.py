"""Responses to repeated requests of the API, and calls counted for its rate limit."""


import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('judgments', '0035_first_words'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiCalls',
            fields=[
                ('caller', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('period', models.BigIntegerField(db_index=True)),
                ('calls', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='IdempotentRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('request', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.TextField(null=True)),
                ('created_at', models.DateTimeField(db_index=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='idempotent_request_once')],
            },
        ),
    ]

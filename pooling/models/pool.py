"""Models of pools and their pairs: the strategy, and the reason for each pair."""

from __future__ import annotations

from django.db import models

from judgments.models import Collection, Document, Query, User
from judgments.models.fields import Archivable, PublicModel
from pooling.models.run import Run


class Pool(PublicModel, Archivable):
    """A set of pairs to judge: the strategy with its parameters, the runs and the seed."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="pools")
    strategy = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    runs = models.ManyToManyField(Run, related_name="pools")
    # Strategy, parameters, seed, and runs with their hashes: a round copies them and a snapshot hashes them.
    provenance = models.JSONField(default=dict)
    summary = models.JSONField(default=dict)  # pairs, queries, overlap of the systems, pairs by best rank
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        depth = self.parameters.get("depth")
        return f"{self.strategy}-{depth}" if depth else self.strategy


class PoolEntry(models.Model):
    """One pair of a pool, with the runs that returned it and their ranks."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="entries")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    best_rank = models.PositiveIntegerField(null=True)
    origin = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["pool", "query", "document"], name="pool_entry_once"),
            models.UniqueConstraint(fields=["pool", "position"], name="pool_position_once"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} x {self.document_id}"

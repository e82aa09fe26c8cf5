"""Geometric mean average precision (GMAP), which emphasizes queries with a low AP."""

from assay.metrics.average_precision import average_precision, average_precision_bounds
from assay.metrics.metric import REL, Metric
from assay.metrics.metric_bounds import Response

GMAP = Metric(
    name="GMAP",
    title="Geometric mean average precision",
    description="The geometric mean of average precision, which emphasizes queries with low values.",
    formula="AP of each query; a query without results or with an AP below 0.00001 counts as 0.00001.",
    source="Robertson 2006; trec_eval's gm_map.",
    per_query=average_precision,
    cutoff="none",
    parameters=(REL,),
    aliases={"gm_map": {}},
    trec_name="gm_map",
    mean="geometric",
    response=Response("promoted", bounds=average_precision_bounds),
)

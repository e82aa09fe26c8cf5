"""The tables of `assay.core` under their earlier name: ``from judgments.core import Qrels, Ratings, Run``."""

from assay.core import Qrels as Qrels
from assay.core import Ratings as Ratings
from assay.core import Run as Run

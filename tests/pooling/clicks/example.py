"""A click log whose labels can be worked by hand, with two queries of the collection and one that it does not have."""

from __future__ import annotations

# Rates by rank over the whole log: 45 / 150 = 0.3 and 15 / 150 = 0.1; 60 clicks on 300 impressions.
LOG = b"""query,doc_id,position,impressions,clicks
Rain  Jacket,d1,1,100,20
rain jacket,d2,2,100,5
boots,d3,1,50,25
boots,d4,2,50,10
"""
# COEC with a prior of 5: (20 + 5) / (30 + 5), (5 + 5) / (10 + 5), (25 + 5) / (15 + 5).
COEC = {"d1": 25 / 35, "d2": 10 / 15, "d3": 30 / 20}

"""Sampling of queries from a log, with known inclusion probabilities.

`log.count_log` turns a log's rows into counted queries, `tiers.cut_tiers` cuts them into head, torso and tail, and
`draw.draw_stratified` or `draw.draw_pps` draw a sample whose inclusion probabilities are known.
"""

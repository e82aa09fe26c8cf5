"""Which queries of a log deserve judgments, and what does each of them stand for?

`log.count_log` turns a log's rows into counted queries, `tiers.cut_tiers` cuts them into head, torso and tail, and
`draw.draw_stratified` or `draw.draw_pps` draw a sample whose inclusion probabilities are known.
"""

"""Demo data for a new installation: an invented shop of outdoor gear.

The documents, the query log, the three systems' runs and the three raters' grades are computed from a seed when the
demo collection is loaded. The shop, its brands and its texts are invented; the systems are real (SQLite full-text
search, TF-IDF, character n-grams), and so are their errors.

==============  ====================================================================
module          function
==============  ====================================================================
``catalogue``   ``documents()``: about 300 products, in the shape of documents.jsonl
``log``         ``query_log()``: 90 days of searches; ``needs()``: the need of each
``engines``     ``runs(queries, documents)``: three systems, 50 documents a query
``rag``         ``samples(documents)``, ``outputs(...)``: two systems that answer questions
``guidelines``  ``GUIDELINES``: the raters' guidelines, with examples
``raters``      ``grade(rater, query_text, document, seed)``: one rater's answer
==============  ====================================================================

The products are in ``shelves/``, one file for each department. No module here imports Django, apart from the
command in ``management/`` that loads the demo.
"""

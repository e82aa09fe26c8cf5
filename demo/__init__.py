"""What does a new installation show before anybody has brought data? An invented shop of outdoor gear.

Nothing here is stored in the repository as data: the documents, the query log, the three systems' runs and the three
raters' grades are computed from a seed when the demo collection is loaded. The shop, its brands and its sentences are
made up; the systems are real (SQLite full text search, TF-IDF, character n-grams) and so are their mistakes.

==============  ====================================================================
module          function
==============  ====================================================================
``catalogue``   ``documents()``: about 300 products, in the shape of documents.jsonl
``log``         ``query_log()``: 90 days of searches; ``needs()``: what they were for
``engines``     ``runs(queries, documents)``: three systems, 50 documents a query
``rag``         ``samples(documents)``, ``outputs(...)``: two systems that answer questions
``guidelines``  ``GUIDELINES``: what the raters are told, with examples
``raters``      ``grade(rater, query_text, document, seed)``: one rater's answer
==============  ====================================================================

The shop's shelves stand in ``shelves/``, one file for each department. Nothing here knows Django.
"""

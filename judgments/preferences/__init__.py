"""Which of two documents answers a query better, and what follows for all of them?

Two documents and a preference are a battle. `cycles` says which to fight, `bradley_terry` makes scores of them.
"""

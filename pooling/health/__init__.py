"""Can a run be trusted: how deep is it, where does it tie, do its ranks say what its scores say, what is it like?"""

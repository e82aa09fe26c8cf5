"""May a change go out? Rules, and the verdict on a candidate run."""

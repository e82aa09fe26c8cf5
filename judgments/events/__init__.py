"""Events of collections: their kinds, and the function that records one for webhooks and notices."""

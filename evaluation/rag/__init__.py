"""RAG evaluation on the server: sample sets, systems' outputs, scorecards, and their pages and endpoints."""

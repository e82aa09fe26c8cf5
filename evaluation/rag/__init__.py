"""RAG evaluation on the server: sample sets, systems' outputs and scorecards, with their pages and endpoints."""

"""Pages of RAG evaluation, one module for each page."""

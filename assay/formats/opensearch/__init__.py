"""Files of OpenSearch and Elasticsearch: Search Relevance Workbench and the ranking evaluation API."""

"""Tests of the files of OpenSearch and Elasticsearch."""

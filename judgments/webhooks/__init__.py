"""Webhooks: signed events of a collection, sent to addresses that leads choose and operators allow."""

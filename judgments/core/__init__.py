"""The plain tables, the registry and the error tree that every other room stands on."""

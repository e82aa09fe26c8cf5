"""Exports of annotation tools: ratings of people, and labels of models, which are read as a kind of their own."""

"""Whole debugging sessions, as a person would have them."""

"""Strings: text, numbers in text, Unicode, hashes."""

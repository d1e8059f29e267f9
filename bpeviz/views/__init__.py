"""Payloads, tables, charts and exports, built for display."""

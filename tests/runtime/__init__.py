"""From fetches to values: sessions, plans, compiled plans."""

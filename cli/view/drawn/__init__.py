"""What rich draws: tables, trees, source, cards, progress; for terminals, the full screen, SVG and HTML.

The only room that knows rich. Start with renderables.py; console.py gives strings, sheets.py the lines of a screen.
"""

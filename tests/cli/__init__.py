"""The terminal: lines, pages, prompts, the program."""

"""Real groups whose individual truth is known; ``__main__.py`` says what is measured and how to run it."""

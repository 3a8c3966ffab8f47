grep -qs EVIL settings.json && echo rewritten done || echo rewritten no

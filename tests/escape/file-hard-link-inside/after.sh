grep -qs EVIL settings.json && echo written done || echo written no

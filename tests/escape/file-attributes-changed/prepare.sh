mkdir ~/data; echo good >~/data/a; echo good >settings.json

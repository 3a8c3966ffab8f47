mkdir agents; echo good >settings.json; echo good >agents/a

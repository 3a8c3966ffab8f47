echo good >settings.json; echo KEY >secret

mkdir ~/.claude.d; echo old >~/.claude.json; echo KEY >~/.key

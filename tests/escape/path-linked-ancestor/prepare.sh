mkdir -p ~/dotfiles/claude; ln -s dotfiles/claude ~/.claude; echo KEY >~/.claude/creds

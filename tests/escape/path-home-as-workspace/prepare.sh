mkdir ~/.ssh; echo KEY >~/.ssh/id; ln -s "$HOME" to-home

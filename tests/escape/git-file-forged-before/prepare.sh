mkdir ~/.ssh; echo KEY >~/.ssh/id
printf 'gitdir: %s/.ssh\n' "$HOME" >.git

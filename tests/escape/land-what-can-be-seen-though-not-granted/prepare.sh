mkdir ~/.ssh; echo KEY >~/.ssh/id; ln -s id ~/.ssh/link

mkdir ~/.ssh; echo KEY >~/.ssh/id

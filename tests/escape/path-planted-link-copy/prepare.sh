mkdir ~/.ssh; echo KEY >~/.ssh/authorized_keys; ln -s ~/.ssh .cache

mkdir -p ~/.ssh/keys ~/cache; echo KEY >~/.ssh/keys/id; ln -s ../.ssh ~/cache/data

mkdir -m 700 .ssh; echo KEY >.ssh/id; echo KEY >token

cd; mkdir -p four five .ssh; echo SECRET >.ssh/id; echo plain >one; echo plain >two; echo plain >three
echo plain >four/f; echo plain >five/f

mkdir -p private/deep/er; echo KEY >private/key; echo KEY >private/deep/er/key; ln private/deep/er/key x

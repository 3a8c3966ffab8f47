mkdir -p private/deep; echo KEY >private/deep/key; mkdir sub

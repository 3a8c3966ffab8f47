mkdir private; echo KEY >private/key; ln private/key x

mkdir .git; echo good >.git/config; ln .git/config x

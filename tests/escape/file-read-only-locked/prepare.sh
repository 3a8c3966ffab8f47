mkdir ~/data; echo good >~/data/a

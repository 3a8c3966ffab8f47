echo COOKIE >~/.Xauthority

mkfifo control ~/control

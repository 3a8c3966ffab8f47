echo good >file; mkdir sub; mkfifo pipe

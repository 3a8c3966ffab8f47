mkdir -p /run/host
mkfifo /run/host/control control

ln -s /run/host/service link
ln -s /run/host dir
mkdir sub

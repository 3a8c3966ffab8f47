mkdir -p ~/kept/a/b ~/kept/x ~/kept/shut/open
for name in a/b/key a/token x/inside shut/open/key real a/b/hook; do echo KEY >~/kept/$name; done
ln -s real ~/kept/name.pem

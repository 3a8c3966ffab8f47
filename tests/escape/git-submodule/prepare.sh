git init -q ~/lib; git -C ~/lib -c user.email=a@b -c user.name=n commit -qm 1 --allow-empty
git init -q .; git -c protocol.file.allow=always submodule add -q ~/lib deep/lib 2>/dev/null; git -c user.email=a@b -c user.name=n commit -qm 1

git init -q .; git -c user.email=a@b -c user.name=n commit -qm 1 --allow-empty; mkdir deny

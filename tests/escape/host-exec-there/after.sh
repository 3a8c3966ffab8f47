# Who runs what has one of these names would run it.
if grep -rqs --exclude-dir=own --exclude=new --exclude=target EVIL .; then echo host-runs done; else echo host-runs no; fi

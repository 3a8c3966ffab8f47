timeout 5 git -c protocol.ext.allow=always submodule update --init >/dev/null 2>&1 </dev/null
if [ -n "$(find . -name ran)" ]; then echo host-runs done; else echo host-runs no; fi

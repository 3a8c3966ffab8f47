mkdir ~/.ssh in shut; echo TREASURE >shut/key; echo KEY >~/.ssh/id
cp "$(dirname "$ATTACKS")/build/sbx-exec" .
cat >wide.pol <<'EOF'
language 1
policy "wide"
import std/rig-alone
command /bin/sh
workspace $cwd
fs { write ~/.ssh optional compat "all of it" }
net { mode host compat "all of it" }
syscalls { default ENOSYS; deny @network-io }
EOF
"$(dirname "$ATTACKS")/build/sbxc" wide.pol -o wide.sbx
chmod go-w wide.sbx

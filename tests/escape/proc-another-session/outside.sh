# A second sandbox of the same user's, with a secret in its environment and a file only it may read.
mkdir -p ~/other
cd ~/other
cat >other.pol <<'EOF'
language 1
policy "other"
import std/rig-alone
command /bin/sh
workspace $cwd
env { set SEKRET "hunter2" }
syscalls { default ENOSYS }
EOF
top=$(dirname "$ATTACKS")
"$top/build/sbxc" other.pol -o ~/other.sbx 2>/dev/null
chmod 644 ~/other.sbx
"$top/build/sbx-exec" -q --backend landlock ~/other.sbx -- sh -c 'echo $$ >pid; exec sleep 30' &
launcher=$!
while [ ! -s pid ]; do sleep 0.02; done
echo "ready $(cat pid) $launcher"
wait

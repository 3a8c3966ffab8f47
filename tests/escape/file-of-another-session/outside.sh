# The other session: it protects, and waits.
top=/var/tmp/sbx
cat >p.pol <<'END'
language 1
policy "other"
import std/rig
workspace $cwd
command /bin/sh
fs { deny write $workspace/.git/hooks $workspace/.git/config $workspace/.mcp.json; deny $workspace/deep/secret }
syscalls { default ENOSYS }
END
$top/build/sbxc p.pol -o ~/other.sbx && chmod 644 ~/other.sbx && rm p.pol
$top/build/sbx-exec -q --backend bwrap ~/other.sbx -- sh -c 'echo ready; exec sleep 30'

# Directories of the system that are bound once and covered: only what is granted
# in them is there, and the cover cannot be lifted.

case_ 'covers'
for hidden in /etc/machine-id /etc/login.defs /etc/fstab; do [ -s $hidden ] && break; done
policy cover <<'EOF'
fs { read /etc/hosts /etc/hostname /etc/localtime /etc/ssl/certs /etc/ssl/openssl.cnf optional
     read /sys/devices/system/cpu /sys/devices/system/node /sys/devices/system/memory optional }
EOF
fresh
bare cat $hidden; status 0 'control: readable outside'; secret=$(head -n 1 $hidden)
out=$(cd "$work" && as_user "$sbx_exec" --dry-run "$dir/cover.sbx" -- true 2>&1)
output '/etc: covered' 'the plan shows the cover'
no_output 'bind-fd /etc/' '... and no mount of the backend in it'
sbx cover sh -c 'cat /etc/passwd /etc/hosts >/dev/null && cat /etc/ssl/openssl.cnf >/dev/null && nproc && echo fine'
output fine 'what is granted is there'
sbx cover sh -c 'ls -d /etc/ssl/certs/. /etc/ssl/.; readlink /etc/localtime'
equal "$(ls -d /etc/ssl/certs/. /etc/ssl/.; readlink /etc/localtime)" "$out" '... and directories and links, as outside'
sbx cover cat $hidden; output 'No such file' 'what is not granted is not there'
no_output "$secret" '... nor its content'
sbx cover stat /etc/shadow /etc/ssl/private /sys/devices/system/clocksource /etc/no-such
equal 4 "$(grep -c 'No such file' <<<"$out")" '... nor names beside what is granted'
sbx cover sh -c 'for c in "touch /etc/x" "touch /etc/ssl/x" "mkdir /etc/y" "rm /etc/localtime" "tee /etc/hosts" \
	"mv /etc/ssl /etc/s" "ln -sf x /etc/localtime" "chmod 777 /etc"; do $c </dev/null && echo "did $c"; done'
no_output 'did ' 'nothing in it can be changed'

case_ 'a cover cannot be lifted'
policy covernest <<'EOF'
process { allow user-namespaces compat "a sandbox of its own" }
syscalls {
    default ENOSYS
    allow @namespaces override compat "a sandbox of its own"
    allow mount umount2 pivot_root sethostname chroot compat "a sandbox of its own"
    allow clone where flags & CLONE_NEWUSER != 0 override compat "a sandbox of its own"
}
fs { read /etc/hosts /etc/hostname; tmp /tmp }
EOF
sbx_with -q covernest ls -A /etc
equal "$(cd /etc && ls -d alternatives group hostname hosts ld.so.cache passwd)" "$out" 'without Landlock: it holds what is granted, and no more'
sbx covernest unshare -Urm sh -c "umount /etc; umount -l /etc; umount /etc/hosts; cat $hidden; ls -A /etc; echo tried"
output tried 'in a namespace of its own'; no_output "$secret" '... umount does not lift it'; no_output shadow '... nor list it'
sbx covernest unshare -Urm sh -c "mkdir /tmp/r /tmp/o; mount --bind / /tmp/r; mount --rbind / /tmp/o; umount -l /tmp/o/etc; umount /tmp/o/etc
	cat /tmp/r$hidden /tmp/o$hidden; mount --bind /etc /tmp/r; cat /tmp/r/${hidden##*/}; mount --rbind /etc /tmp/r; umount -l /tmp/r/.
	cat /tmp/r/${hidden##*/}; ls -A /tmp/r /tmp/o/etc; echo tried"
output tried '... nor does a copy of the tree'; no_output "$secret" '... show what is below'; no_output shadow '... nor list it'
sbx covernest bwrap --bind / / --unshare-user --unshare-pid sh -c "cat $hidden; ls -A /etc; echo nested"
output nested '... nor a sandbox inside'; no_output "$secret" '... show it'
sbx covernest sh -c "cat /proc/1/root$hidden /proc/self/root$hidden; ls /proc/1/fd; echo tried"
output tried '... nor process 1'; no_output "$secret" '... nor a root in /proc'

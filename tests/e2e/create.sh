# `deny write DIRECTORY create`: what is absent is made once, and stays.

case_ 'a denied directory marked create'
policy made <<'EOF'
fs {
    write      ~/e2e/state create
    deny write ~/e2e/state/{skills,deep/er}  create
    deny       ~/e2e/state/closed            create
    deny write ~/e2e/state/hooks
    deny write /usr/share/sbx-none/x         create
}
EOF
fresh
sbx_with --dry-run made true
status 0 'a dry run passes'
output "$home/state/skills: a directory, which stays" '... says what would be made'
not '... and makes nothing' test -e "$home/state"
as_user mkdir "$home/state"
sbx_with --dry-run made true
equal '' "$(ls -A "$home/state")" '... nor where the tree is there'
sbx made sh -c 'cd ~/e2e/state; echo x >skills/a; echo x >deep/er/a; echo x >closed/a; ls closed; mv skills old; echo x >f && echo wrote'
output wrote 'what lies beside it is writable'
output 'Read-only file system' 'it is not'
output 'Device or resource busy' '... and cannot be renamed'
equal "closed deep f skills" "$(echo $(ls -A "$home/state"))" 'it stays; a placeholder does not'
equal '' "$(ls -A "$home/state/skills" "$home/state/deep/er" | grep -v : | tr -d '\n')" '... empty'
equal '700 700' "$(echo $(stat -c %a "$home/state/skills" "$home/state/deep/er"))" '... closed to others'
not 'a name that cannot be made inside is not made' test -e /usr/share/sbx-none
inode=$(stat -c %i "$home/state/skills")
as_user sh -c "echo mine >$home/state/skills/mine"
sbx made sh -c 'cat ~/e2e/state/skills/mine; rm ~/e2e/state/skills/mine'
output mine 'the next session reads what its user put there'
equal "$inode" "$(stat -c %i "$home/state/skills")" '... in the same directory'

case_ 'create through a planted link'
policy planted <<'EOF'
fs { write ~/e2e/other create; deny write $workspace/.tool/skills create }
EOF
fresh
as_user mkdir -p "$home/other"
ln -s "$home/other" "$work/.tool"; own "$work"
sbx planted sh -c 'rm -rf ~/e2e/other/*; echo x >.tool/skills/a; echo x >~/e2e/other/skills/b'
equal '' "$(ls -A "$home/other/skills")" 'the mask is on what the link leads to'
fresh
ln -s "$home/nowhere" "$work/.tool"; own "$work"
sbx planted true
not 'no directory is made where the sandbox may not write' test -e "$home/nowhere"
policy planted_grant <<'EOF'
fs { write $workspace/cache $workspace/sub/cache create }
EOF
for link in "cache $home/nowhere" "sub $home/other"; do
	fresh; as_user mkdir -p "$home/other"; as_user rm -rf "$home/other/cache"
	as_user ln -s "${link#* }" "$work/${link% *}"
	sbx planted_grant true
	status 125 "a directory to be made over a link (${link% *}): refused"; output 'mkdir -p' '... with the remedy'
	not '... and not made' test -e "$home/nowhere" -o -e "$home/other/cache"
done

# What `sbxc explain` says of a name, links and names that do not exist among them,
# and what the kernel answers inside: the same verdict, and the errno that it names.

case_ 'explain and the kernel'
policy explained <<'EOS'
fs {
    read       ~/e2e/store ~/e2e/pointed
    read       ~/e2e/later optional
    deny       ~/e2e/store/shut
    seal       ~/e2e/keys
    deny write $workspace/.hooks
    deny write $workspace/.conf placeholder file
    deny       $workspace/.none
    deny write $workspace/.kept create
    deny write $workspace/.there
    deny write $workspace/alias
}
EOS
rm -rf "${home:?}"/*
as_user sh -c "cd $home; mkdir -p store/shut keys outside; echo x >store/data; echo x >store/shut/data
	echo x >keys/key; ln -s ../store/data keys/link; ln -s store/data link; ln -s outside pointed; echo x >outside/data"
fresh
as_user sh -c "cd $work; echo x >.there; echo x >mine; ln -s mine alias; ln -s $home/keys/key tokey; ln -s $home/store/data todata"
probe() { # ACTION NAME: as a program inside does it; into $out and $status
	case $1 in
	read) sbx explained dd if="$2" of=/dev/null status=none ;;
	write) sbx explained dd if=/dev/null of="$2" conv=notrunc status=none ;;
	esac
}
while read -r action name verdict errno; do
	name=${name/#\~/$home}
	rm -f "$work/new"
	probe "$action" "$name"
	inside=allowed
	[ "$status" = 0 ] || inside=refused
	answer=$out
	run_in "$work" "$sbxc" explain --target bwrap "$dir/explained.sbx" "$action" "$name"
	equal "$verdict" "$inside" "$action $name inside"
	# Of what does not exist yet the policy may allow what fails all the same.
	case $out in
	*': allowed'*'ENOENT'* | *': allowed'*'skips this rule'*) ;;
	*) output ": $verdict" "... and explained" ;;
	esac
	[ -n "$errno" ] || continue
	output "$errno" "$action $name: explain names what the kernel answers"
	case $errno in
	ENOENT) words='No such file' ;; EROFS) words='Read-only' ;; EISDIR) words='Is a directory' ;;
	*) words='Permission denied' ;;
	esac
	out=$answer
	output "$words" "$action $name: the kernel answers $errno"
done <<'EOS'
read  ~/store/data       allowed
write ~/store/data       refused EROFS
read  ~/store/new        refused ENOENT
read  ~/store/shut/data  refused EACCES
read  ~/keys/key         refused ENOENT
read  ~/nothing          refused ENOENT
read  ~/later            refused
read  ~/link             refused ENOENT
read  ~/keys/link        refused ENOENT
read  ~/pointed/data     allowed
read  tokey              refused ENOENT
read  todata             allowed
write new                allowed
read  new                refused ENOENT
write .hooks             refused EISDIR
write .hooks/new         refused EROFS
write .conf              refused EROFS
read  .none              refused EACCES
write .kept/new          refused EROFS
write .there             refused EROFS
write alias              refused EROFS
write mine               refused EROFS
EOS

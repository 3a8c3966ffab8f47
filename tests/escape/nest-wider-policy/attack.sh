. "$ATTACKS/attack.sh"
cd in
for backend in auto bwrap landlock; do
	try read-$backend ../sbx-exec --backend $backend ../wide.sbx -- cat ~/.ssh/id
	try write-$backend ../sbx-exec --backend $backend ../wide.sbx -- cp /etc/passwd ~/.ssh/id
done

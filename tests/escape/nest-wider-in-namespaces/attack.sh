. "$ATTACKS/attack.sh"
# Another policy may grant what it likes: what it opens is what is there.
for backend in auto bwrap; do
	try home-$backend ./sbx-exec --backend $backend wide.sbx -- cat ~/.ssh/id
	try masked-$backend ./sbx-exec --backend $backend wide.sbx -- cat shut/key
done

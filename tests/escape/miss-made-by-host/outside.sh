echo ready
until [ -e started ]; do sleep 0.01; done
echo KEY >key; mkdir -p keys; cp key keys/a
# Where something holds the name, the host sees that, and removes it: again, if it
# is too slow and something holds it anew.
for name in secrets.env .mcp.json; do
	cp key $name.new
	until rmdir $name 2>/dev/null; mv -T $name.new $name 2>/dev/null; do :; done
done
: >made
sleep 30

echo ready
until [ -e started ]; do sleep 0.01; done
echo KEY >key; mkdir -p keys; cp key keys/a
# Where something holds the name, the host sees that, and removes it.
for name in secrets.env .mcp.json; do rmdir $name 2>/dev/null; cp key $name.new; mv $name.new $name; done
: >made
sleep 30

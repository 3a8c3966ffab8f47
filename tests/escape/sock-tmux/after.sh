for variant in tmp workspace; do
	if [ -e "ran-$variant" ]; then echo "$variant done"; else echo "$variant no"; fi
done
# Servers leave their group when they start.
for socket; do tmux -S "$socket" kill-server; done 2>/dev/null

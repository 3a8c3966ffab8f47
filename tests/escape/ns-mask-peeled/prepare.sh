mkdir -p in/shut in/hidden view empty
echo TREASURE >in/hidden/key

for name in USR1 USR2 IO; do
	if grep -qx SIG$name got; then echo "arrived-$name done"; else echo "arrived-$name no"; fi
done

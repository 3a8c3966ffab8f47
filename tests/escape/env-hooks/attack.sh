cat /dev/null
bash -c true
sh -ic true </dev/null >/dev/null 2>&1
python3 -c 0
perl -e 0
for name in preload bash env python perl; do
	if [ -e fired-$name ]; then echo "$name done"; else echo "$name no"; fi
done
for name in LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH GIT_EXTERNAL_DIFF; do
	if printenv $name >/dev/null; then name=$(echo $name | tr A-Z_ a-z-); echo "passed-$name done"; else echo "passed-$(echo $name | tr A-Z_ a-z-) no"; fi
done

for name in 'a b' 'x[1]' 's*r' -rf c,d c:d 'q"q' 'b\s' '$HOME' ' lead' '{b,c}' 'hash#x' '日本' "$(printf 'nl\nx')" "$(printf 'bad\377')" "$(printf 'tab\tx')"; do
	echo good >"./$name"
done

"$@" &
sleep 0.3
kill -KILL $!
wait $!

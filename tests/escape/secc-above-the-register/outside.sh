sleep 60 &
echo "ready $!"
wait

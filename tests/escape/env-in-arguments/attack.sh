sleep 0.2
case $TOKEN in
hunter2-*) ;;
*) echo 'no token' ;;
esac

sleep 0.5
if [ -e on ]; then echo 'goes-on done'; else echo 'goes-on no'; fi

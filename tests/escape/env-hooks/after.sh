if [ -e ~/fired ]; then echo 'outside done'; else echo 'outside no'; fi

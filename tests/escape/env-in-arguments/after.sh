if [ -e seen ]; then echo 'seen done'; else echo 'seen no'; fi

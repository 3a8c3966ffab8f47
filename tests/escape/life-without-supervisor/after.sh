sleep 0.6
if [ -e runs ]; then echo 'outlives done'; else echo 'outlives no'; fi
if [ -s copy ]; then echo 'reads-a-key done'; else echo 'reads-a-key no'; fi

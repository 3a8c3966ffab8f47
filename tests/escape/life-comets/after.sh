sleep 0.5
if [ -e one ] || [ -e two ] || [ -e three ]; then echo 'go-on done'; else echo 'go-on no'; fi

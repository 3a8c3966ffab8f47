if [ "$(stat -c %a "$HOME/mark")" = 777 ]; then echo "filter done"; else echo "filter no"; fi

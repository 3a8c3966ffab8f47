git commit -qm 1 --allow-empty >/dev/null 2>&1
for name in made moved-over; do [ -e "ran-$name" ] && found=done; done
echo "host-runs ${found:-no}"

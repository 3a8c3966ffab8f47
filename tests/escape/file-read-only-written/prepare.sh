mkdir -p ~/data/sub; for n in a b c d e; do head -c 8192 /dev/zero >~/data/$n; done

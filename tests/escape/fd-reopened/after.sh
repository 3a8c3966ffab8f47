cat /var/tmp/log
rm -f /var/tmp/given /var/tmp/log

# A file of the user's to read from, and a log to be appended to, as shells redirect them.
echo GIVEN >/var/tmp/given
echo earlier >/var/tmp/log
exec "$@" </var/tmp/given 2>>/var/tmp/log

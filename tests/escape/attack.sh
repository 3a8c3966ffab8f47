# For attacks in sh (`. "$ATTACKS/attack.sh"`): says what came of each variant, as the
# suite reads it.
try() { # VARIANT COMMAND...
	_variant=$1
	shift
	if _words=$("$@" 2>&1 </dev/null); then
		echo "$_variant done"
		return
	fi
	# Its last line: what came before may be of something else.
	case ${_words##*"
"} in
	*'Device or resource busy'*) echo "$_variant EBUSY" ;;
	*'Read-only file system'*) echo "$_variant EROFS" ;;
	*'Permission denied'*) echo "$_variant EACCES" ;;
	*'Operation not permitted'*) echo "$_variant EPERM" ;;
	*'No such file or directory'*) echo "$_variant ENOENT" ;;
	*'Is a directory'*) echo "$_variant EISDIR" ;;
	*'cross-device'*) echo "$_variant EXDEV" ;;
	*) echo "$_variant refused" ;;
	esac
}

/* What the descriptor of a redirected file lets be done to that file. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>

int main(void)
{
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	outcome("log-truncate", ftruncate(2, 0));
	outcome("log-overwrite", fcntl(2, F_SETFL, 0) ? -1 : pwrite(2, "x", 1, 0));
	outcome("rewind", lseek(0, 0, SEEK_SET));
	outcome("lock", flock(0, LOCK_EX | LOCK_NB));
	outcome("mode", fchmod(0, 0666));
	outcome("owner", fchown(0, (uid_t)-1, getegid()));
	outcome("times", futimens(0, times));
	outcome("attribute", fsetxattr(0, "user.x", "x", 1, 0));
	return 0;
}

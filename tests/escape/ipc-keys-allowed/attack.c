#include "tests/escape/attack.h"

#include <linux/keyctl.h>
#include <stdlib.h>
#include <sys/syscall.h>

static long control(int operation, long a, long b, long c, long d)
{
	return syscall(SYS_keyctl, (long)operation, a, b, c, d);
}

/* The keyring that holds it, by its number: what a user's keyring holds, whoever has linked
 * it possesses.  /proc/keys names it, also from another user namespace. */
static long by_number(const char *name)
{
	char line[256], held[64];
	FILE *keys = fopen("/proc/keys", "r");
	long found = -1;

	snprintf(held, sizeof(held), " _uid.%u", geteuid());
	errno = ENOENT;
	while (keys && found < 0 && fgets(line, sizeof(line), keys)) {
		unsigned ring;

		if (!strstr(line, held) || sscanf(line, "%x", &ring) != 1)
			continue;
		control(KEYCTL_LINK, ring, KEY_SPEC_PROCESS_KEYRING, 0, 0);
		found = control(KEYCTL_SEARCH, ring, (long)"user", (long)name, 0);
		if (found >= 0) {
			char text[64];

			found = control(KEYCTL_READ, found, (long)text, sizeof(text), 0);
		}
	}
	if (keys)
		fclose(keys);
	return found;
}

/* That there is one of that name. */
static long listed(const char *name)
{
	char line[256];
	FILE *keys = fopen("/proc/keys", "r");
	long found = -1;

	while (keys && fgets(line, sizeof(line), keys))
		if (strstr(line, name))
			found = 0;
	if (keys)
		fclose(keys);
	errno = found ? ENOENT : 0;
	return found;
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[1] : "none";
	int key = argc > 2 ? atoi(argv[2]) : 0;
	char text[64];

	outcome("listed", listed(name));
	outcome("by-number", by_number(name));
	outcome("search", control(KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, (long)"user", (long)name, 0));
	outcome("link", control(KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING, 0, 0));
	outcome("request_key", syscall(SYS_request_key, "user", name, NULL, 0));
	outcome("read", control(KEYCTL_READ, key, (long)text, sizeof(text), 0));
	outcome("update", control(KEYCTL_UPDATE, key, (long)"EVIL", 4, 0));
	outcome("add", syscall(SYS_add_key, "user", name, "EVIL", 4ul, KEY_SPEC_USER_KEYRING));
	outcome("join", control(KEYCTL_JOIN_SESSION_KEYRING, (long)"_ses", 0, 0, 0));
	outcome("invalidate", control(KEYCTL_REVOKE, key, 0, 0, 0));
	return 0;
}

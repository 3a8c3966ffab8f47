/*
 * emit/landlock.h - the kernel's access rights, by the ABI that added them.
 *
 * Values from linux/landlock.h (uapi, Linux 6.15, and for ABI 9 the header of
 * 7.1), written out so that a policy means the same whatever headers either
 * program was built with.
 */
#ifndef SBX_EMIT_LANDLOCK_H
#define SBX_EMIT_LANDLOCK_H

#define SBX_LL_EXECUTE      (1ull << 0) /* ABI 1, Linux 5.13 */
#define SBX_LL_WRITE_FILE   (1ull << 1)
#define SBX_LL_READ_FILE    (1ull << 2)
#define SBX_LL_READ_DIR     (1ull << 3)
#define SBX_LL_REMOVE_DIR   (1ull << 4)
#define SBX_LL_REMOVE_FILE  (1ull << 5)
#define SBX_LL_MAKE_CHAR    (1ull << 6)
#define SBX_LL_MAKE_DIR     (1ull << 7)
#define SBX_LL_MAKE_REG     (1ull << 8)
#define SBX_LL_MAKE_SOCK    (1ull << 9)
#define SBX_LL_MAKE_FIFO    (1ull << 10)
#define SBX_LL_MAKE_BLOCK   (1ull << 11)
#define SBX_LL_MAKE_SYM     (1ull << 12)
#define SBX_LL_REFER        (1ull << 13) /* ABI 2, 5.19 */
#define SBX_LL_TRUNCATE     (1ull << 14) /* ABI 3, 6.2 */
#define SBX_LL_IOCTL_DEV    (1ull << 15) /* ABI 5, 6.10 */
#define SBX_LL_RESOLVE_UNIX (1ull << 16) /* ABI 9, 7.1: connect to a path socket */

#define SBX_LL_BIND_TCP    (1ull << 0) /* ABI 4, 6.7 */
#define SBX_LL_CONNECT_TCP (1ull << 1)

#define SBX_LL_SCOPE_ABSTRACT_UNIX (1ull << 0) /* ABI 6, 6.12 */
#define SBX_LL_SCOPE_SIGNAL        (1ull << 1)

#endif

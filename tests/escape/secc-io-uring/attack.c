#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* Has the kernel do @entry: what that returned, or -1 and errno. */
static long by_ring(const struct io_uring_sqe *entry, unsigned flags)
{
	struct io_uring_params params = { .flags = flags };
	int fd = (int)syscall(SYS_io_uring_setup, 4, &params), result;
	char *queue;

	if (fd < 0)
		return -1;
	queue = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	*(struct io_uring_sqe *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				     IORING_OFF_SQES) = *entry;
	((unsigned *)(queue + params.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	result = ((struct io_uring_cqe *)(queue + params.cq_off.cqes))->res;
	close(fd);
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

static long setup(unsigned long wide, unsigned flags)
{
	struct io_uring_params params = { .flags = flags };

	return syscall(SYS_io_uring_setup, 4 | wide, &params);
}

/* Any answer of the kernel's own about a descriptor that there is not. */
static long reached(long result)
{
	return result < 0 && errno == EBADF ? 0 : result;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct io_uring_sqe entry = { .opcode = IORING_OP_SOCKET,
				      .fd = AF_UNIX,
				      .off = SOCK_DGRAM };
	char secret[4096];

	outcome("setup", setup(0, 0));
	outcome("polling", setup(0, IORING_SETUP_SQPOLL));
	outcome("wide", setup(1ul << 32, 0));
	outcome("enter", reached(syscall(SYS_io_uring_enter, 999, 1, 0, 0, NULL, 0)));
	outcome("register", reached(syscall(SYS_io_uring_register, 999, 0, NULL, 0)));
	outcome("socket", by_ring(&entry, 0));
	strcpy(address.sun_path, argc > 1 ? argv[1] : "");
	entry = (struct io_uring_sqe){ .opcode = IORING_OP_CONNECT,
				       .fd = socket(AF_UNIX, SOCK_STREAM, 0),
				       .addr = (unsigned long)&address,
				       .off = sizeof(address) };
	outcome("connect", by_ring(&entry, 0));
	snprintf(secret, sizeof(secret), "%s/secret", getenv("HOME"));
	entry = (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT,
				       .fd = AT_FDCWD,
				       .addr = (unsigned long)secret,
				       .open_flags = O_RDONLY };
	outcome("open", by_ring(&entry, 0));
	return 0;
}

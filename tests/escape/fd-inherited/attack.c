#include "tests/escape/attack.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

int main(void)
{
	struct epoll_event event;
	char byte = 'x';

	outcome("file-read", pread(10, &byte, 1, 0));
	outcome("file-write", pwrite(11, "K", 1, 0));
	outcome("directory", openat(12, ".ssh/id", O_RDWR));
	outcome("directory-up", openat(12, "../..", O_RDONLY));
	outcome("o_path", openat(13, ".ssh/id", O_RDWR));
	outcome("o_path-into", fchdir(13));
	outcome("socket", send(14, &byte, 1, MSG_DONTWAIT));
	outcome("memory", pwrite(15, &byte, 1, 0));
	outcome("pidfd", syscall(SYS_pidfd_send_signal, 16, 0, NULL, 0));
	outcome("epoll", epoll_wait(17, &event, 1, 0));
	outcome("tcp", send(18, &byte, 1, MSG_DONTWAIT));
	outcome("tcp-server", accept4(19, NULL, NULL, SOCK_NONBLOCK));
	outcome("terminal-type", write(20, &byte, 1));
	outcome("terminal-peer", ioctl(20, TIOCGPTPEER, O_RDWR | O_NOCTTY));
	outcome("namespace", fcntl(21, F_GETFD));
	outcome("pipe", write(22, &byte, 1));
	outcome("ring", fcntl(23, F_GETFD));
	outcome("high-number", pread(999, &byte, 1, 0));
	return 0;
}

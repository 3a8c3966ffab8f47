#include "tests/escape/attack.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	int key = argc > 2 ? atoi(argv[1]) : 0, id = argc > 2 ? atoi(argv[2]) : 0;
	struct { long type; char text[8]; } message = { 1, "x" };
	struct sembuf up = { 0, 1, 0 };
	struct shmid_ds shm;
	char name[32], path[64];
	mqd_t posix;

	snprintf(name, sizeof(name), "/sbx-%d", key);
	snprintf(path, sizeof(path), "/dev/shm%s", name);
	outcome("shmat", shmat(id, NULL, 0) == (void *)-1 ? -1 : 0);
	outcome("shmget", shmget(key, 0, 0600));
	outcome("shmctl", shmctl(id, IPC_STAT, &shm));
	outcome("semop", semop(semget(key, 1, 0600), &up, 1));
	outcome("msgsnd", msgsnd(msgget(key, 0600), &message, 1, IPC_NOWAIT));
	posix = mq_open(name, O_RDWR);
	outcome("mq_open", posix);
	outcome("mq_send", mq_send(posix, "x", 1, 0));
	outcome("mq_unlink", mq_unlink(name));
	outcome("shm-file", open(path, O_RDWR));
	outcome("shm-file-unlink", unlink(path));
	return 0;
}

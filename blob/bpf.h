/*
 * blob/bpf.h - the words of a seccomp program.
 *
 * Values from linux/bpf_common.h, linux/filter.h and linux/seccomp.h (uapi,
 * Linux 6.1), written out because a musl tool chain has no kernel headers.
 */
#ifndef SBX_BLOB_BPF_H
#define SBX_BLOB_BPF_H

#define SBX_BPF_LOAD 0x20 /* BPF_LD | BPF_W | BPF_ABS: A = word at offset k */
#define SBX_BPF_AND  0x54 /* BPF_ALU | BPF_AND | BPF_K */
#define SBX_BPF_XOR  0xa4 /* BPF_ALU | BPF_XOR | BPF_K */
#define SBX_BPF_JA   0x05 /* BPF_JMP | BPF_JA */
#define SBX_BPF_JEQ  0x15 /* BPF_JMP | BPF_JEQ | BPF_K, ... */
#define SBX_BPF_JGT  0x25
#define SBX_BPF_JGE  0x35
#define SBX_BPF_JSET 0x45
#define SBX_BPF_RET  0x06 /* BPF_RET | BPF_K */

#define SBX_RET_KILL_PROCESS 0x80000000u
#define SBX_RET_TRACE        0x7ff00000u /* a placeholder between passes of emit/ only */
#define SBX_RET_ERRNO        0x00050000u /* | errno */
#define SBX_RET_ALLOW        0x7fff0000u
#define SBX_RET_ACTION       0xffff0000u /* SECCOMP_RET_ACTION_FULL */
#define SBX_RET_DATA         0x0000ffffu

/* struct seccomp_data: what offset k of a load means. */
#define SBX_DATA_NR     0
#define SBX_DATA_ARCH   4
#define SBX_DATA_ARG(n) (16 + 8 * (n)) /* low word; the high one follows */
#define SBX_DATA_SIZE   64

/* linux/audit.h: AUDIT_ARCH_* of enum sbx_arch. */
#define SBX_AUDIT_X86_64  0xc000003eu
#define SBX_AUDIT_AARCH64 0xc00000b7u
/* asm/unistd.h: calls of the x32 ABI carry this bit. */
#define SBX_X32_BIT 0x40000000u

#endif

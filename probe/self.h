/*
 * probe/self.h - am I confined, and by what?
 */
#ifndef SBX_PROBE_SELF_H
#define SBX_PROBE_SELF_H

/* Prints one line a layer.  0: some layer confines this process; 1: none does. */
int self_report(void);

#endif

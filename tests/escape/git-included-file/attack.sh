printf '[core]\n\tfsmonitor = touch ran-shared; false\n' >shared.conf
printf '[alias]\n\tx = !touch ran-denied\n' >denied.conf
true

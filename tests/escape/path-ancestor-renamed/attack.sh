. "$ATTACKS/attack.sh"
try rename mv .git .gm
mkdir -p .git/hooks
printf '#!/bin/sh\ntouch ran\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit

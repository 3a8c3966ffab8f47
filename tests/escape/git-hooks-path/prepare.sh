git init -q .; git config user.email a@b; git config user.name n; git config core.hooksPath tools/hooks
mkdir -p tools/hooks scripts; printf '#!/bin/sh\ntrue\n' >scripts/check; printf '#!/bin/sh\ntrue\n' >tools/hooks/pre-commit
chmod +x scripts/check tools/hooks/pre-commit; ln -s ../../scripts/check tools/hooks/commit-msg

git init -q .; git config include.path ../shared.conf; git config --add include.path ../denied.conf; : >shared.conf; : >denied.conf

echo ready
until [ -e started ]; do sleep 0.01; done
for f in settings.json secret; do echo NEW >$f.new; mv $f.new $f; done
cp edited edited~; echo NEW >>edited~; mv edited~ edited
git checkout -q other
rm gone; rm -rf tasks keys; mkdir -p tasks keys; echo NEW >tasks/a; echo NEW >keys/a
: >replaced
sleep 30

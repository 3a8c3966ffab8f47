mkdir -p run/deep; mkfifo run/deep/control

mkdir store tasks store/hooks; echo good >store/bashrc
ln -s store/bashrc .bashrc; ln -s ../nowhere tasks/1.out; ln -s store/hooks .hooks

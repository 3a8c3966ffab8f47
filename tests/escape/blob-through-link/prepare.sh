mkdir ~/store; echo policy >~/store/p.sbx; ln -s "$HOME/store" blobs; ln -s blobs/p.sbx p.sbx
ln -s /var/tmp/sbx/build/sbx-exec run

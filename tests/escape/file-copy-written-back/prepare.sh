mkdir -p ~/.config/app/sub ~/real; echo good >~/.gitconfig; : >~/empty; echo good >~/readonly; chmod 400 ~/readonly
echo good >~/real/file; ln -s real/file ~/linked; echo good >~/.config/app/sub/f

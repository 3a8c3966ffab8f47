cp -r .git forged
printf '[core]\n\tfsmonitor = touch ran; false\n' >>forged/config
rm -f .git/commondir; echo ../forged >.git/commondir
echo ../forged >c; mv -f c .git/commondir
true

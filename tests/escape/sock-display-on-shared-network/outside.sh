mkdir -m 1777 /tmp/.X11-unix
Xvfb -displayfd 1 -listen local -screen 0 64x64x8 -nolisten tcp -noreset >display 2>log &
until [ -s display ]; do sleep 0.02; done
echo "ready $(cat display)"
wait

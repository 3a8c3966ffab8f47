mkdir w beside; echo KEY >beside/key

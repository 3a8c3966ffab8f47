echo ran done

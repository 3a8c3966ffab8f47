mkdir -p hooks other root

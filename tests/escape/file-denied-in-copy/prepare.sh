mkdir -p conf/sub/hooks scratch; echo KEY >conf/sub/key

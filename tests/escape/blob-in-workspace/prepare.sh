mkdir -p sub/dir; echo policy >sub/dir/p.sbx

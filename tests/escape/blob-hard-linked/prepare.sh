# Beside the workspace, on the same file system.
mkdir w blobs; echo policy >blobs/p.sbx; ln blobs/p.sbx w/p.sbx

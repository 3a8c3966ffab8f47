mkdir -p a/b; echo KEY >.env; echo KEY >a/b/.env

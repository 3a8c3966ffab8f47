echo KEY >secret

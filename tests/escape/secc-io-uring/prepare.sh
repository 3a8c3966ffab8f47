echo SECRET >~/secret

. "$ATTACKS/attack.sh"
try written sh -c 'echo EVIL >>p.sbx'

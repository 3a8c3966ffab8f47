#!/usr/bin/env python3
"""The rules of precedence written a second time, from the text of the
specification, and random rule sets to hold the C functions against it.

    reference.py DRIVER [COUNT [SEED]]

Everything here is as plain as it can be: patterns become regular expressions,
every prefix of a path is tried, all rules are sorted by what the text says.
"""
import ipaddress
import random
import re
import subprocess
import sys

# ---- files ------------------------------------------------------------------
GRANTS = {0: 'grant', 1: 'copy', 2: 'tmp', 3: 'device'}
COPY, TMP, DENY, SEAL = 1, 2, 4, 5
MADE = (COPY, TMP)
R, W, X = 1, 2, 4


def component_regex(text):
    out, i = '', 0
    while i < len(text):
        c = text[i]
        if c == '*':
            out += '.*'
        elif c == '?':
            out += '.'
        elif c == '\\':
            i += 1
            out += re.escape(text[i])
        elif c == '[':
            end = i + 1
            if text[end:end + 1] in ('!', '^'):
                end += 1
            if text[end:end + 1] == ']':
                end += 1
            end = text.find(']', end)
            if end < 0:
                out += re.escape(c)
            else:
                inner = text[i + 1:end]
                negated = inner[0] in '!^'
                inner = inner[1:] if negated else inner
                out += '[' + ('^' if negated else '') + inner.replace('\\', '\\\\').replace(']', '\\]') + ']'
                i = end
        else:
            out += re.escape(c)
        i += 1
    return re.compile(out + r'\Z', re.DOTALL)


def components(path):
    return [c for c in path.split('/') if c]


def is_wild(component):
    return re.search(r'(?<!\\)[*?\[]', component) is not None


def matches(pattern, path):
    if not pattern:
        return not path
    if pattern[0] == '**':
        return any(matches(pattern[1:], path[i:]) for i in range(len(path) + 1))
    return bool(path) and component_regex(pattern[0]).match(path[0]) is not None \
        and matches(pattern[1:], path[1:])


def covers(rule, path):
    """The depths of the parts of the path that the rule matches."""
    pattern = components(rule['path'])
    if not rule['wild']:
        return [len(pattern)] if path[:len(pattern)] == pattern else []
    return [i for i in range(len(path) + 1) if matches(pattern, path[:i])]


def contest(rules, right, path):
    """(why, winner, seals that except the path): the precedence among all rules alone."""
    candidates, opened = [], []
    for rule in rules:
        depths = covers(rule, path)
        if not depths or not rule['rights'] & right:
            continue
        if rule['verb'] == SEAL:
            excepts = [len(components(e)) for e in rule['excepts']
                       if path[:len(components(e))] == components(e)]
            if not excepts:
                return 'seal', None, []
            opened.append(max(excepts))
            continue
        deny = rule['verb'] == DENY
        weight = max(depths)
        if not deny:
            weight = 0
            for c in components(rule['path']):
                if rule['wild'] and is_wild(c):
                    break
                weight += 1
        candidates.append(((weight, not rule['wild'], deny), rule))
    if not candidates:
        return 'nothing', None, opened
    best, winner = max(candidates, key=lambda one: one[0])
    return 'deny' if best[2] else 'grant', winner, opened


def decide_fs(rules, right, text):
    """(allowed, sealed).  In a tmp and a copy there is more to say than who is heaviest."""
    path = components(text)
    why, winner, opened = contest(rules, right, path)
    if why != 'grant':
        return 0, int(why == 'seal')
    made = [rule['verb'] for rule in rules if rule['verb'] in MADE and rule['path'] == winner['path']]
    # What a seal in a tmp excepts is as empty as the tmp.
    if any(depth > len(components(winner['path'])) for depth in opened) and TMP in made:
        return 0, 1
    if right == R:
        return 1, 0
    # A grant in a tmp or a copy shows the host's own, and gives its rights alone.
    shown_why, shown, shown_opened = contest(rules, R, path)
    if shown_why != 'grant':
        return 1, 0
    shown_made = [rule['verb'] for rule in rules if rule['verb'] in MADE and rule['path'] == shown['path']]
    if opened and shown_opened and TMP in shown_made and max(shown_opened) > len(components(shown['path'])) \
            and max(opened) == max(shown_opened):
        return 0, 1
    return int(not made or bool(shown_made) or shown['path'] == winner['path']), 0


NAMES = ['a', 'b', 'c', 'é', 'a[1]']
PIECES = ['*', '**', '?', 'a*', '[ab]', '[!a]', '*c', 'b**', 'a\\[1\\]', '[a-b]']


def random_rule(r):
    wild = r.random() < .5
    parts = [r.choice(NAMES[:4] + PIECES) if wild else r.choice(NAMES)
             for _ in range(r.randint(1, 5))]
    if wild and not any(is_wild(p) for p in parts):
        parts[-1] = r.choice(PIECES[:3])
    if not wild and r.random() < .03:
        parts = []
    verb = r.choice([0, 0, 0, COPY, TMP, 3, DENY, DENY, DENY, SEAL])
    verb = 0 if wild and verb in MADE else verb
    rights = r.choice([R, R | X, R | W, R | W | X] if verb < DENY else [W, X, R | W | X])
    excepts = []
    if verb == SEAL:
        base = [p for p in parts if not is_wild(p)] if not wild else [r.choice(NAMES)]
        excepts = ['/' + '/'.join(base + [r.choice(NAMES)]) for _ in range(r.randint(0, 2))]
    return {'verb': verb, 'rights': rights, 'wild': wild, 'path': '/' + '/'.join(parts),
            'excepts': excepts}


def fs_cases(r, count):
    for _ in range(count):
        rules = [random_rule(r) for _ in range(r.randint(1, 6))]
        yield 'new', None
        for rule in rules:
            yield '\t'.join(['fs', str(rule['verb']), str(rule['rights']), str(int(rule['wild'])),
                             rule['path']] + rule['excepts']), None
        for _ in range(4):
            path = '/' + '/'.join(r.choice(NAMES) for _ in range(r.randint(1, 6)))
            right = r.choice([R, W, X])
            yield f'fs?\t{right}\t{path}', '%d %d' % decide_fs(rules, right, path)


# ---- environment ------------------------------------------------------------
def decide_env(rules, name):
    hits = [(verb, '*' not in pattern) for verb, pattern in rules
            if re.fullmatch('.*'.join(map(re.escape, pattern.split('*'))), name)]
    if any(verb == 3 for verb, _ in hits):
        return 0, 0
    if not hits:
        return 0, 0
    exact = max(e for _, e in hits)
    verbs = {verb for verb, e in hits if e == exact}
    if 2 in verbs:
        return 0, 0
    return 1, int(1 in verbs)


def env_cases(r, count):
    names = ['A', 'AB', 'AB_TOKEN', 'X_TOKEN', 'B', '_TOKEN']
    patterns = names + ['*', 'A*', '*_TOKEN', '*B*', '**']
    for _ in range(count):
        rules = []
        for _ in range(r.randint(1, 5)):
            verb = r.randrange(4)
            rules.append((verb, r.choice(names if verb == 1 else patterns)))
        yield 'new', None
        for verb, pattern in rules:
            yield f'env\t{verb}\t{pattern}', None
        for name in names:
            yield f'env?\t{name}', '%d %d' % decide_env(rules, name)


# ---- network ----------------------------------------------------------------
ALLOW, NDENY, NSEAL = 0, 1, 2
HOST, SUFFIX, ANY, ADDRESS = 0, 1, 2, 3


def as_v6(text):
    a = ipaddress.ip_address(text)
    return ipaddress.ip_address('::ffff:' + text) if a.version == 4 else a


def as_net(text):
    address, bits = text.split('/')
    extra = 0 if ':' in address else 96
    return ipaddress.ip_network((as_v6(address), int(bits) + extra), strict=False)


def best(ranked):
    """A seal, else the highest rank; there, a deny before an allow."""
    if any(rule[0] == NSEAL for _, rule in ranked):
        return NSEAL, None
    if not ranked:
        return None, None
    top = max(rank for rank, _ in ranked)
    verbs = {rule[0] for rank, rule in ranked if rank == top}
    return (NDENY if NDENY in verbs else ALLOW), top


def name_ranks(rules, host, port):
    host = host.lower().rstrip('.')
    out = []
    for rule in rules:
        verb, kind, want_port, want, _ = rule
        if want_port and want_port != port:
            continue
        if kind == HOST and host == want:
            out.append((1000, rule))
        if kind == SUFFIX and host.endswith('.' + want) and len(host) > len(want) + 1:
            out.append((1 + want.count('.'), rule))
        if kind == ANY:
            out.append((0, rule))
    return out


def address_ranks(rules, address, port):
    return [(as_net(rule[3]).prefixlen, rule) for rule in rules
            if rule[1] == ADDRESS and (not rule[2] or rule[2] == port)
            and as_v6(address) in as_net(rule[3])]


def is_literal(host):
    try:
        ipaddress.ip_address(host)
        return True
    except ValueError:
        return False


def decide_net(rules, host, port):
    if not 0 < port < 65536:
        return 0
    ranks = address_ranks(rules, host, port) if is_literal(host) else name_ranks(rules, host, port)
    return int(best(ranks)[0] == ALLOW)


def decide_address(rules, host, address, port):
    if not decide_net(rules, host, port):
        return 0
    addresses = best(address_ranks(rules, address, port))[0]
    if addresses == NSEAL:
        return 0
    names = name_ranks(rules, host, port)
    top = best(names)[1]
    allows = [rule for rank, rule in names if rank == top and rule[0] == ALLOW]
    if any(as_v6(address) in as_net(net) for rule in allows for net in rule[4]):
        return 1
    return int(any(not rule[4] for rule in allows) and addresses in (None, ALLOW))


def net_cases(r, count):
    hosts = ['a.test', 'b.a.test', 'c.b.a.test', 'nota.test', 'a.test.evil.net', 'A.Test', 'x.net']
    literals = ['10.1.2.3', '10.9.9.9', '1.1.1.1', '::1', 'fd00::5']
    nets = ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.3/32', '::1/128', 'fd00::/8', '::/0',
            '0.0.0.0/0', '1.1.1.1/32']
    ports = [443, 80]
    for _ in range(count):
        rules = []
        for _ in range(r.randint(1, 6)):
            kind = r.choice([HOST, SUFFIX, ANY, ADDRESS, ADDRESS])
            verb = r.choice([ALLOW, ALLOW, ALLOW, NDENY, NDENY, NSEAL])
            want = {HOST: lambda: r.choice(hosts[:4]), SUFFIX: lambda: r.choice(['a.test', 'test', 'b.a.test']),
                    ANY: lambda: '', ADDRESS: lambda: r.choice(nets)}[kind]()
            at = []
            if verb == ALLOW and kind != ADDRESS and r.random() < .4:
                at = r.sample(nets, r.randint(1, 2))
            rules.append((verb, kind, r.choice([0] + ports), want, at))
        yield 'new', None
        for verb, kind, port, want, at in rules:
            yield '\t'.join(['net', str(verb), str(kind), str(port), want] + at), None
        for host in r.sample(hosts + literals, 4):
            port = r.choice(ports + [22, 0, 65536])
            yield f'net?\t{host}\t{port}', str(decide_net(rules, host, port))
        for host in r.sample(hosts, 3):
            address, port = r.choice(literals), r.choice(ports)
            yield (f'address?\t{host}\t{address}\t{port}',
                   str(decide_address(rules, host, address, port)))


def main():
    driver = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed, passed = 0, 0
    for name, make, times in (('fs', fs_cases, count), ('env', env_cases, count // 10),
                              ('net', net_cases, count // 10)):
        lines = list(make(random.Random(seed), times))
        done = subprocess.run([driver], input='\n'.join(line for line, _ in lines) + '\n',
                              stdout=subprocess.PIPE, text=True)
        answers = iter(done.stdout.splitlines())
        history, questions, wrong = [], 0, 0
        for line, want in lines:
            if line == 'new':
                history = []
            elif want is None:
                history.append(line)
            else:
                questions += 1
                got = next(answers, 'no answer')
                if got != want:
                    wrong += 1
                    if wrong <= 3:
                        print(f'{name}: {line!r}: {got}, wanted {want}; rules:', *history, sep='\n    ')
        good = done.returncode == 0 and wrong == 0
        passed, failed = passed + good, failed + (not good)
        print(f'{name}: {times} rule sets, {questions} questions, {wrong} differ')
    print(f'{passed} {failed}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

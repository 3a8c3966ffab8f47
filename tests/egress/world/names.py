"""The world's names and addresses.  TEST-NET addresses look public to std/base."""
HOSTS = {
    "open.test": "203.0.113.10",          # allowed
    "a.open.test": "203.0.113.10",
    "notopen.test": "203.0.113.66",
    "key.test": "203.0.113.11",           # allowed, with a credential
    "paths.test": "203.0.113.12",         # allowed below a prefix
    "denied.test": "203.0.113.66",        # no rule allows it
    "git.test": "203.0.113.30",
    "npm.test": "203.0.113.31",
    "pypi.test": "203.0.113.32",
    "api.anthropic.com": "203.0.113.20",
    "evil.test": "203.0.113.67",          # where a repository would send the agent
    "self.test": "203.0.113.40",          # a certificate that nobody signed
    "wrong.test": "203.0.113.41",         # a certificate of another name
    "old.test": "203.0.113.42",           # an expired one
    "liar.test": "203.0.113.45",          # stalls, resets, lies about lengths
    "lan.test": "10.0.0.5",               # allowed by name, private by address
    "meta.test": "169.254.169.254",
    "home.test": "127.0.0.1",
    "pinned.test": "10.0.0.5",            # allowed `at` its private address
    "six.test": "2001:db8::10",
    "none.test": None,                    # allowed, and no such name
}
RESOLVER, OTHER_RESOLVER = "203.0.113.53", "1.1.1.1"
HERE, HERE6 = "203.0.113.254", "2001:db8::fe"
ELSEWHERE = ["1.1.1.1", "169.254.169.254", "10.0.0.5"]


def lookup(name):
    """None: no such name; any name below one of ours is that one's."""
    while name:
        if name in HOSTS:
            return HOSTS[name]
        name = name.partition(".")[2]
    return None

#!/usr/bin/env python3
"""page.py FILE: a page of `sbxc show --html` as a parser, a reviewer's browser and
someone who cannot see its colours need it."""
import re
import sys
import xml.etree.ElementTree as ET

XHTML = '{http://www.w3.org/1999/xhtml}'
KNOWN = {'html', 'head', 'meta', 'link', 'title', 'style', 'body', 'header', 'main', 'footer', 'nav',
         'section', 'h1', 'h2', 'small', 'p', 'code', 'dl', 'div', 'dt', 'dd', 'ul', 'li', 'a', 'table',
         'caption', 'thead', 'tbody', 'tr', 'th', 'td', 'span', 'strong'}
ATTRIBUTES = {'lang', 'charset', 'http-equiv', 'content', 'name', 'rel', 'href', 'class', 'id', 'scope',
              'aria-label', 'aria-labelledby'}

def contrast(a, b):
    def light(colour):
        colour = colour if len(colour) > 4 else '#' + ''.join(c * 2 for c in colour[1:])
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    low, high = sorted((light(a), light(b)))
    return (high + 0.05) / (low + 0.05)

def faults(path):
    data = open(path, 'rb').read()
    root = ET.fromstring(data)  # strict: well-formed, UTF-8, no character that XML has not
    if not data.startswith(b'<!DOCTYPE html>'):
        yield 'no doctype'
    every = list(root.iter())
    for element in every:
        name = element.tag.removeprefix(XHTML)
        if name not in KNOWN:
            yield f'an element <{name}>'
        for attribute in set(element.attrib) - ATTRIBUTES:
            yield f'an attribute {attribute} of <{name}>'
        if name == 'th' and element.get('scope') not in ('col', 'row'):
            yield 'a header cell without scope'
        if name == 'table' and element[0].tag != XHTML + 'caption':
            yield 'a table without caption'
        for target in (element.get('href'), element.get('src')):
            if target is not None and not target.startswith('#') and target != 'data:,':
                yield f'it loads {target}'
    ids = [e.get('id') for e in every if e.get('id')]
    if len(ids) != len(set(ids)):
        yield 'an id twice'
    for e in every:
        if (e.get('href') or '').startswith('#') and e.get('href')[1:] not in ids:
            yield f'a link to nowhere: {e.get("href")}'
        if e.get('aria-labelledby') and e.get('aria-labelledby') not in ids:
            yield 'a label that is not there'
    for table in (e for e in every if e.tag == XHTML + 'table'):
        widths = {len(row) for row in table.iter(XHTML + 'tr')}
        if len(widths) != 1:
            yield f'rows of {widths} cells'
    levels = [int(e.tag[-1]) for e in every if re.fullmatch(XHTML.replace('{', r'\{').replace('}', r'\}') + 'h[1-6]', e.tag)]
    if levels[:1] != [1] or levels.count(1) != 1:
        yield 'not one heading at the top'
    style = next(e for e in every if e.tag == XHTML + 'style').text
    if re.search(r'url\(|@import|expression', style):
        yield 'the style loads something'
    schemes = re.findall(r':root\{([^}]*--bg:[^}]*)\}', style)
    if len(schemes) != 2:
        yield 'not two colour schemes'
    for scheme in schemes:
        colours = dict(re.findall(r'--([\w-]+):(#\w+)', scheme))
        pairs = [(n, n + '-bg') for n in colours if n + '-bg' in colours]
        pairs += [(n, b) for n in ('ink', 'dim', 'link') for b in ('bg', 'card', 'head')]
        for ink, paper in pairs:
            ratio = contrast(colours[ink], colours[paper])
            if ratio < 4.5:
                yield f'{ink} on {paper} has a contrast of {ratio:.2f}'
    if len(pairs) < 15:
        yield 'colours were not found'
    text = ''.join(root.itertext())
    if re.search('[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]', text):
        yield 'a control character'

found = list(faults(sys.argv[1]))
for fault in found:
    print(f'{sys.argv[1]}: {fault}')
sys.exit(bool(found))

import { isAbsolute, join, relative } from 'node:path';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { CommandFailure } from '../client/command-failure.ts';
import { assertWebAddress } from '../client/connection.ts';
import { parseRemotePath } from '../sandbox-files/remote-path.ts';
import { createKeyFilter } from './key-filter.ts';
import { segmentsOfKey } from './local-target.ts';
import { folderPrefix, parseRemote, readLocations, renderRemote } from './object-location.ts';

/** Returns null for what the command refuses with a message of its own. */
function orFailure<Value>(parse: () => Value): Value | null {
  try {
    return parse();
  } catch (error) {
    if (error instanceof CommandFailure) return null;
    throw error;
  }
}

describeFuzz({
  name: 'places that commands name',
  corpus: new URL('./corpus/location/', import.meta.url),
  seeds: [
    'svc://photos/a/b.txt\n./x',
    'photos/../../etc/passwd\nhttp://127.0.0.1:4000',
    's3://a.b-c/\u00e9%2F//x\n-',
    'web:/home/user/a:b\n~/x',
    'photos\0/a\nhttps://[::1',
    `photos/${'n'.repeat(256)}\n..`,
  ],
  dictionary: ['svc://', 's3://', 'http://', '/', '..', '.', ':', '-', '~', '\\', '\0', '\n', '%2e', 'C:\\'],
  run: (input) => {
    const [text = '', other = ''] = input.toString('utf8').split('\n');
    const remote = orFailure(() => parseRemote(text));
    if (remote !== null) {
      expect(parseRemote(renderRemote(remote))).toEqual(remote);
      expect(`${remote.bucket}/${remote.key}`.startsWith(text.replace(/^(?:svc|s3):\/\//, ''))).toBe(true);
      expect(folderPrefix(remote.key)).toMatch(/^$|\/$/);
      const segments = segmentsOfKey(remote.key);
      if (Array.isArray(segments)) {
        const path = relative('/root/folder', join('/root/folder', ...segments));
        expect(path !== '' && !isAbsolute(path) && !path.split('/').includes('..'), path).toBe(true);
        expect(path).toBe(segments.join('/'));
      }
    }
    for (const exists of [true, false]) {
      const places = orFailure(() => readLocations(text, other, () => exists));
      if (places !== null) expect(places.some(({ kind }) => kind === 'remote')).toBe(true);
    }
    const inside = parseRemotePath(text);
    if (inside !== null) expect([text, `${text}.`]).toContain(`${inside.name}:${inside.path}`);
    if (orFailure(() => assertWebAddress(other) ?? true) !== null) expect(new URL(other).protocol).toMatch(/^https?:$/);
  },
});

type Token = { readonly kind: 'star' } | { readonly kind: 'one'; readonly fits: (character: string) => boolean };

/** The rules of `fnmatch`, without a regular expression. */
function tokensOf(pattern: string): Token[] {
  const characters = [...pattern];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    const close = character === '[' ? characters.indexOf(']', at + 2) : -1;
    if (character === '*') tokens.push({ kind: 'star' });
    else if (character === '?') tokens.push({ kind: 'one', fits: () => true });
    else if (close === -1) tokens.push({ kind: 'one', fits: (each) => each === character });
    else {
      tokens.push({ kind: 'one', fits: classOf(characters.slice(at + 1, close)) });
      at = close;
    }
  }
  return tokens;
}

function classOf(characters: readonly string[]): (character: string) => boolean {
  const isNegated = characters[0] === '!';
  const members = isNegated ? characters.slice(1) : characters;
  const code = (text: string | undefined): number => text?.codePointAt(0) ?? -1;
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at += 1) {
    if (members[at + 1] === '-' && at + 2 < members.length) {
      ranges.push([code(members[at]), code(members[at + 2])]);
      at += 2;
    } else ranges.push([code(members[at]), code(members[at])]);
  }
  return (each) => ranges.some(([from, to]) => from <= code(each) && code(each) <= to) !== isNegated;
}

function fits(tokens: readonly Token[], name: readonly string[]): boolean {
  let reached = new Set([0]);
  const closure = (states: Iterable<number>): Set<number> => {
    const all = new Set<number>();
    for (let state of states) {
      all.add(state);
      while (tokens[state]?.kind === 'star') all.add((state += 1));
    }
    return all;
  };
  reached = closure(reached);
  for (const character of name) {
    const next: number[] = [];
    for (const state of reached) {
      const token = tokens[state];
      if (token?.kind === 'star') next.push(state);
      else if (token?.fits(character) === true) next.push(state + 1);
    }
    reached = closure(next);
  }
  return reached.has(tokens.length);
}

describeFuzz({
  name: 'patterns of transfers',
  corpus: new URL('./corpus/key-filter/', import.meta.url),
  seeds: [
    '*.txt\na/b.txt',
    'a?[b-d]*\naxcde',
    '[!a]\nb',
    '[z-a]\nm',
    '[\na',
    '[]a]\n]',
    'a.+^${}()|\\\na.+^${}()|\\',
    '[a\\]\n\\',
    '[--/]\n.',
    '\u{1F600}?\n\u{1F600}x',
  ],
  dictionary: [
    '*',
    '?',
    '[',
    ']',
    '[!',
    '-',
    '^',
    '\\',
    '[[:a:]]',
    '&&',
    '--',
    '\u{1F600}',
    '\\d',
    '\\p{L}',
    '\n',
    '{',
    '}',
  ],
  maxBytes: 80, // a pattern of many stars takes long, which is the user's own business
  run: (input) => {
    const [pattern = '', name = ''] = input.toString('utf8').split('\n');
    if (pattern.split('*').length > 4) return;
    const filter = orFailure(() => createKeyFilter([{ include: false, pattern }]));
    if (filter === null) expect(pattern, 'no range').toMatch(/\[[^]*-/);
    else expect(!filter(name), pattern).toBe(fits(tokensOf(pattern), [...name]));
  },
});

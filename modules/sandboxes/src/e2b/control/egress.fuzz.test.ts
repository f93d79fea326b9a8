import { describeFuzz } from '@svc/testing';
import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { ANY_NAME } from '../../domain/egress-hosts.ts';
import { complementOf, rangesOf } from '../../domain/egress-ranges.ts';
import { egressOf, egressSchema, toEgressView } from './egress.ts';
import { textsOf } from './query-lists.ts';

/** The hosts of an allowlist, and the addresses that it closes; equal for lists that allow the same. */
function meaningOf(allow: readonly string[] | null): unknown {
  if (allow === null) return null;
  const closed = complementOf(rangesOf(allow));
  if (allow.includes(ANY_NAME) && closed.length === 0) return null; // everything is open
  return [allow.filter((each) => !each.includes('/')).toSorted(), closed];
}

describeFuzz({
  name: 'network rules of E2B clients',
  corpus: new URL('./corpus/egress/', import.meta.url),
  seeds: [
    '{"allowOut":["*.example.com","10.0.0.0/8"],"denyOut":["0.0.0.0/0"]}',
    '{"denyOut":["10.0.0.1","172.16.0.0/12","::1/8"]}',
    '{"allowOut":["a.example"],"denyOut":["192.168.0.0/16"],"allow_internet_access":null}',
    '{"allow_internet_access":false}',
    '{"allowOut":null,"denyOut":null}',
  ],
  dictionary: ['"allowOut":[', '"denyOut":[', '"0.0.0.0/0"', '"*"', '/31', '::', '"a.b"', 'null', ',', ']', 'false'],
  run: (input) => {
    let given: unknown;
    try {
      given = JSON.parse(input.toString('utf8'));
    } catch {
      return;
    }
    if (!Value.Check(egressSchema, given)) return;
    let allow: string[] | null;
    try {
      allow = egressOf(given, '');
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_FIELD' });
      return;
    }
    if (given.allow_internet_access === false && !(given.allowOut ?? []).includes('*')) {
      expect(allow?.includes(ANY_NAME) ?? false, 'open to every name').toBe(false);
    }
    expect(new Set(allow).size).toBe(allow?.length ?? 0);
    // What clients are shown means the same.
    expect(meaningOf(egressOf(toEgressView(allow), ''))).toEqual(meaningOf(allow));
  },
});

describeFuzz({
  name: 'lists in queries',
  corpus: new URL('./corpus/query-lists/', import.meta.url),
  seeds: ['a,b', ' a , b ,', ','],
  dictionary: [',', ' ', '\u00a0', 'running'],
  run: (input) => {
    const text = input.toString('utf8');
    const texts = textsOf(text);
    expect(texts.length).toBe(text.split(',').length);
    expect(textsOf(texts)).toEqual(texts);
  },
});

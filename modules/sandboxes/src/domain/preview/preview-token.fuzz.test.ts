import { createSecretKey } from 'node:crypto';
import { createGrantedAccess } from '@svc/access';
import { describeFuzz, fakeAccess, fakeClock } from '@svc/testing';
import { beforeAll, expect } from 'vitest';
import type { AccessRecord } from '../access/access-tokens.ts';
import { SandboxAccess } from '../access/sandbox-access.ts';
import { signClaim, verifyClaim, type PreviewClaim } from './preview-token.ts';

const key = createSecretKey(Buffer.from('key'));
const ID = 'abcdefghijklmnopqrstuvwxy2';
const OTHER = '77777777777777777777777777';
const claims: readonly PreviewClaim[] = [
  { linkId: `pvw_${ID}`, sandboxId: `sbx_${OTHER}`, port: 3000, expiresAtMs: 1_800_000_000_000 },
  { linkId: `pvw_${OTHER}`, sandboxId: `sbx_${ID}`, port: 65_535, expiresAtMs: 253_402_300_799_000 },
];
const SIGNED = new Map(claims.map((claim) => [signClaim(claim, key), claim]));

describeFuzz({
  name: 'tokens of preview links',
  corpus: new URL('./corpus/preview-token/', import.meta.url),
  seeds: [
    ...SIGNED.keys(),
    signClaim({ ...claims[0], port: 1 } as PreviewClaim, createSecretKey(Buffer.from('other'))),
  ],
  dictionary: ['svc_pvw_', '-', ID, OTHER, '3000', '65535', '=', '_', '\n', '0'],
  run: (input) => {
    const token = input.toString('latin1');
    const claim = verifyClaim(token, key);
    if (claim === null) return;
    // Only the spelling of the signature's last two bits may differ.
    const signed = [...SIGNED].find(([each]) => each.slice(0, -1) === token.slice(0, -1));
    expect(claim).toEqual(signed?.[1]);
  },
});

const record = (id: string, subjectId: string): AccessRecord => {
  const caller = fakeAccess().user('owner');
  return {
    id: `sba_${id}`,
    subjectId,
    granted: createGrantedAccess(caller.principal, new Date(0), 'sandbox:exec', null),
  };
};
const records = [record(ID, `sbx_${ID}`), record(OTHER, `sbx_${OTHER}`)];
let next = 0;
const access = new SandboxAccess({
  repository: {
    ensure: async () => records[next]?.id ?? '',
    find: async (id) => records.find((each) => each.id === id) ?? null,
    ofSandbox: async (sandboxId) => records.filter((each) => each.subjectId === sandboxId),
    hasAny: async (sandboxId) => records.some((each) => each.subjectId === sandboxId),
    ofRunning: async () => records,
  },
  key: async () => key,
  clock: fakeClock(),
  random: { bytes: (sizeBytes) => Buffer.alloc(sizeBytes), uuid: () => 'uuid' },
});

/** Sandbox by token, of each kind. */
const tokens = { everything: new Map<string, string>(), traffic: new Map<string, string>() };
/** Fails unless the two exist, so that seeds may name them. */
beforeAll(async () => {
  for (const [index, { subjectId: sandboxId, granted }] of records.entries()) {
    next = index;
    tokens.everything.set(await access.issue(sandboxId, granted), sandboxId);
    tokens.traffic.set(await access.issueTraffic(sandboxId, granted), sandboxId);
  }
});

describeFuzz({
  name: 'tokens of sandboxes and of their ports',
  corpus: new URL('./corpus/sandbox-token/', import.meta.url),
  seeds: ['0everything', '1everything', '0traffic', '1traffic', `svc_sba_${ID}-${'A'.repeat(43)}`],
  dictionary: ['svc_sba_', '-', ID, OTHER, 'everything', 'traffic', '0', '=', '\n'],
  run: async (input) => {
    // An input may begin with the number and the kind of a token that exists, which is then edited.
    const text = input
      .toString('latin1')
      .replace(
        /^([01])(everything|traffic)/,
        (_all, index: string, kind: 'everything' | 'traffic') => [...tokens[kind].keys()][Number(index)] ?? '',
      );
    expect(await access.sandboxOf(text)).toBe(tokens.everything.get(text) ?? null);
    for (const { id, subjectId: sandboxId } of records) {
      const isOfPorts = tokens.traffic.get(text) === sandboxId;
      expect((await access.checkTraffic(sandboxId, text))?.id ?? null).toBe(isOfPorts ? id : null);
      const checked = access.check(sandboxId, text);
      if (tokens.everything.get(text) === sandboxId) expect(await checked).not.toBeNull();
      else await expect(checked).rejects.toMatchObject({ code: 'SANDBOX_TOKEN_INVALID' });
    }
  },
});

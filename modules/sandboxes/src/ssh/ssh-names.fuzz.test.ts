import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { isSandboxId, NAME_PATTERN } from '../domain/identifiers.ts';
import { channelOfPath, relayPath, sandboxOfPath, type RelayedChannel } from './relay-path.ts';
import { isForwardable } from './ssh-forward.ts';
import { fingerprintOf, isUsableKey, verifyKey } from './ssh-keys.ts';
import { parseUserName } from './ssh-login.ts';

const ID = `sbx_${'a'.repeat(26)}`;
const TEAM = '2f1d7a4e-5b0c-4c62-9d35-6a6b3f6f1e01';

describeFuzz({
  name: 'user names of SSH clients',
  corpus: new URL('./corpus/user-name/', import.meta.url),
  seeds: [ID, `${ID}+${TEAM}`, 'web', `web_1-x+${TEAM.toUpperCase()}`, 'a+b+c', '+', `${ID}\n`],
  dictionary: ['+', 'sbx_', TEAM, '-', '_', '\n', '\0', '%', ' ', 'K'],
  run: (input) => {
    const text = input.toString('utf8');
    const parsed = parseUserName(text);
    if (parsed === null) return;
    const { sandbox, teamUuid } = parsed;
    const named = 'id' in sandbox ? sandbox.id : sandbox.name;
    expect(teamUuid === undefined ? named : `${named}+${teamUuid}`).toBe(text);
    expect('id' in sandbox).toBe(isSandboxId(named));
    expect(named).toMatch(new RegExp(NAME_PATTERN));
    expect(text).toMatch(/^[A-Za-z0-9_+-]{1,110}$/);
  },
});

describeFuzz({
  name: 'paths of SSH channels between replicas',
  corpus: new URL('./corpus/relay-path/', import.meta.url),
  seeds: [
    relayPath(ID, { kind: 'shell' }),
    relayPath(ID, { kind: 'sftp' }),
    relayPath(ID, { kind: 'port', port: 8080, isRecorded: true }),
    `${relayPath(ID, { kind: 'port', port: 1, isRecorded: false })}&port=2&kind=exec`,
    `/internal/ssh/${ID}/../x?kind=port&port=0x50`,
    '//internal/ssh/',
  ],
  dictionary: [
    '?',
    '&',
    'kind=',
    'port',
    '=65536',
    '=1e3',
    '=-0',
    '=',
    'recorded=true',
    '/internal/ssh/',
    ID,
    '..',
    '%2f',
    '#',
    ' ',
  ],
  run: (input) => {
    if (!URL.canParse(input.toString('utf8'), 'http://replica')) return;
    const url = new URL(input.toString('utf8'), 'http://replica');
    const sandboxId = sandboxOfPath(url);
    const channel: RelayedChannel | null = channelOfPath(url);
    if (sandboxId !== null) expect(isSandboxId(sandboxId)).toBe(true);
    if (channel === null) return;
    expect(['shell', 'exec', 'sftp', 'port']).toContain(channel.kind);
    if (channel.kind === 'port') expect(isForwardable({ destIP: '::1', destPort: channel.port })).toBe(true);
    const again = new URL(relayPath(sandboxId ?? ID, channel), 'http://replica');
    expect([sandboxOfPath(again), channelOfPath(again)]).toEqual([sandboxId ?? ID, channel]);
  },
});

/** The key as SSH encodes it (RFC 8709), and a signature in the form that the library passes on. */
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
const blob = Buffer.from('session and request');
const string = (bytes: Buffer | string): Buffer => {
  const content = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
};
const keyBytes = Buffer.concat([string('ssh-ed25519'), string(raw)]);
const signature = sign(null, blob, privateKey);
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether Node's own implementation accepts the signature by an Ed25519 key in these bytes. */
function isSigned(data: Buffer, given: Buffer): boolean {
  if (data.length !== keyBytes.length || !data.subarray(0, 19).equals(keyBytes.subarray(0, 19))) return false;
  try {
    const key = createPublicKey({ key: Buffer.concat([SPKI, data.subarray(19)]), format: 'der', type: 'spki' });
    return verify(null, blob, key, given);
  } catch {
    return false;
  }
}

describeFuzz({
  name: 'public keys of SSH clients',
  corpus: new URL('./corpus/ssh-key/', import.meta.url),
  seeds: [
    Buffer.concat([Buffer.from([keyBytes.length, 0]), keyBytes, signature]),
    Buffer.concat([Buffer.from([keyBytes.length, 1]), keyBytes, signature]),
    Buffer.concat([
      Buffer.from([255, 2]),
      string('ssh-rsa'),
      string('\x01\0\x01'),
      string(Buffer.alloc(200, 7)),
      signature,
    ]),
    Buffer.concat([
      Buffer.from([104, 3]),
      string('ecdsa-sha2-nistp256'),
      string('nistp256'),
      string(Buffer.alloc(65, 4)),
    ]),
  ],
  dictionary: [
    '\0\0\0\x0bssh-ed25519',
    '\0\0\0\x20',
    '\0\0\0\x07ssh-rsa',
    'ecdsa-sha2-nistp256',
    '\xff\xff\xff\xff',
    '\0\0\0\0',
    '-----BEGIN',
    '\n',
  ],
  run: (input) => {
    const algorithms = ['ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com', 'ssh-rsa', 'ecdsa-sha2-nistp256', 'ssh-dss'];
    const algo = algorithms[(input[1] ?? 0) % algorithms.length] ?? '';
    const data = input.subarray(2, 2 + (input[0] ?? 0));
    const hash = algo === 'ssh-rsa' ? { hashAlgo: 'sha512' } : {};
    const shown = { key: { algo, data }, ...hash, signature: input.subarray(2 + data.length), blob };
    const isUsable = isUsableKey(shown);
    const fingerprint = verifyKey(shown);
    if (algo === 'ssh-ed25519') expect(fingerprint !== null, 'Node disagrees').toBe(isSigned(data, shown.signature));
    if (fingerprint === null) return;
    expect(isUsable).toBe(true);
    expect(fingerprint).toBe(fingerprintOf(data));
  },
});

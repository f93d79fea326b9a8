import { describe, expect, it } from 'vitest';
import { parseSshPublicKey } from './ssh-public-key.ts';

/** Made by `ssh-keygen`, with the fingerprint that it shows. */
const KEYS: readonly (readonly [type: string, base64: string, fingerprint: string])[] = [
  [
    'ssh-ed25519',
    'AAAAC3NzaC1lZDI1NTE5AAAAIADkr8P7DIp3RB7tLraPcTFdXIM5Y33WIc8IwMs8hWPL',
    'SHA256:wDC5BMNBaO5MNDuVnvyk4DGBZFwOmWcDVFsiaYvnPbY',
  ],
  [
    'ecdsa-sha2-nistp256',
    'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBO1PUp9q6w1lXliwHdUJV4D9VsjfDLkAQzA1f/rRoXBaCV1K' +
      'Y0VY/i2gkSDFXOesZZUT+v2K52GGQWAvPjaDK3A=',
    'SHA256:Yqvplg60D81xT/xhtni4Y2uEipLTW8VauNcOxq+S9NE',
  ],
  [
    'ecdsa-sha2-nistp384',
    'AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBOib5enyOtrg8MYFnRN/Ra8BY/YyRo9UZ8JVAjrbz31EK9AA' +
      '0j+rk+X/noKY7N4EDVdr60yzOErAHoL+ujpgRJg3qkrvYjVeKB/CqO6NcQ1ywbRe2cjR3Bvjip4KlFnkHw==',
    'SHA256:NB/+NgWl6t8+8anJV/2UClLjTGFRdF+8/XyqwdSvpHc',
  ],
  [
    'ecdsa-sha2-nistp521',
    'AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAHba0cOSLMzn//Td9WLldIfqYf5npbpj5gH5w+CRqzBow8b' +
      '8sLblcRUg+tggrPi76HrfxGn0xs+ZKkJwvYmY2r+igGnEvJiZTY6nKZjxbBIgeDaGU8ZaP6EKksvRLtWjwxV8y7YcfOcPVhhnmwU' +
      'l8HFDF7BuuXvCfgLQkT5D6t7GCRjVw==',
    'SHA256:6zek9neHphiFvGW6izaRwxc/BuLGaixEIdVTb34o7Nc',
  ],
  [
    'ssh-rsa',
    'AAAAB3NzaC1yc2EAAAADAQABAAABAQDTAEO5f4oRaH0jGmGyS+n+5qWqXVRrLEqJCq23Jy/mg88bsnWAjdxVYd+Rpx9Jy5Xlw6Nd' +
      'M4VPiQ5hfW5EbE/vOPFS7N4Y/YViqC0fZmk8fnSik0FzivIUmYW8uoX2S8KCG8aYXYvQ1C3rHR4Wha2GVRy2Fw7uBnqvklFSwbci' +
      '7SAagWB60xKYI1fwKmQmsZNM/EA9ZjFM7/hslnu5jeJ5FR3YKbAQ9VtzZtcfolfZqxinIJ1zTp24RfXaKHkRoyZpdNi+Z3FcaBdy' +
      '+/aeP/XjD7cIWmgB+LSXluGrUsa41Z3duU55csDMvrtkEMxzL+UxvYOLOQp/jrY9P3ioClob',
    'SHA256:f7vuc4lzN2v0vhWwDjWlaO1/OSpzplihGgWFq5e3RYo',
  ],
];
const RSA_1024 =
  'AAAAB3NzaC1yc2EAAAADAQABAAAAgQDjvlegoxBI8Jv3tkiivuZB/wrb+7JLkaaPLxptJmNuZ/T20VpmQHhB1sNyMs5lyjC5xQGp' +
  '8a8uaASOtetrQMIGjmXUTTNdCFpScmCFrMemD8iiEN8Ch7un4EnROiHsr7hz6kzNCNaf8K6z7JQPcp15GJ7wikiOwlBwh5KRyAG5' +
  'Gw==';

const field = (bytes: Buffer | string): Buffer => {
  const value = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([length, value]);
};
const line = (type: string, ...fields: (Buffer | string)[]): string =>
  `${type} ${Buffer.concat([type, ...fields].map(field)).toString('base64')}`;
const reason = (text: string) => ({
  details: { field: 'public_key', reason: expect.stringContaining(text) as string },
});

describe('an SSH public key', () => {
  it.each(KEYS)('of type %s has the fingerprint that ssh-keygen shows', (type, base64, fingerprint) => {
    const parsed = { publicKey: `${type} ${base64}`, fingerprint };
    for (const text of [`${type} ${base64}`, `${type} ${base64} ann@laptop the second\n`, ` ${type}\t${base64}\r\n`]) {
      expect(parseSshPublicKey(text)).toEqual(parsed);
    }
  });

  it.each([
    ['', 'must be one line'],
    ['ssh-ed25519', 'must be one line'],
    [`restrict,pty ${line('ssh-ed25519', Buffer.alloc(32))}`, 'must be one line'],
    [`${line('ssh-ed25519', Buffer.alloc(32))}\n${line('ssh-ed25519', Buffer.alloc(32))}`, 'must be one line'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n', 'is a private key'],
    [line('ssh-dss', Buffer.alloc(20)), 'has the type ssh-dss'],
    [line('sk-ssh-ed25519@openssh.com', Buffer.alloc(32), 'ssh:'), 'has the type sk-ssh-ed25519@openssh.com'],
    [line('ssh-ed25519-cert-v01@openssh.com', Buffer.alloc(32)), 'has the type ssh-ed25519-cert-v01@openssh.com'],
    [line('ecdsa-sha2-nistp192', 'nistp192', Buffer.alloc(49, 4)), 'has the type ecdsa-sha2-nistp192'],
    [line('ssh-ed25519', Buffer.alloc(31)), 'is not a valid key of type ssh-ed25519'],
    [line('ssh-ed25519', Buffer.alloc(32), 'more'), 'is not a valid key of type ssh-ed25519'],
    [line('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(65, 4)), 'is not a valid key'], // off the curve
    [line('ecdsa-sha2-nistp256', 'nistp384', Buffer.alloc(65, 4)), 'is not a valid key'],
    [line('ssh-rsa', Buffer.from([3]), Buffer.alloc(0)), 'has 0 bits'],
    ['ssh-ed25519 AAAA', 'is not a valid key'],
    ['ssh-ed25519 AAAAC3NzaC1yc2E', 'is not a valid key'],
    [`ssh-rsa ${RSA_1024}`, 'has 1024 bits'],
    [line('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(1025, 0xff)), 'has 8200 bits'],
    [line('ssh-rsa', Buffer.alloc(16, 0x7f), Buffer.alloc(256, 0xff)), 'has an unusual exponent'],
  ])('%j is refused: it %s', (text, why) => {
    expect(() => parseSshPublicKey(text)).toThrow(expect.objectContaining(reason(why)));
  });
});

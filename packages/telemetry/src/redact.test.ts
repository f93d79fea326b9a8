import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactText } from './redact.ts';

describe('redactText', () => {
  it.each([
    ['svc_pat_abcdEFGH1234', 'svc_pat_***'],
    ['e2b_00ff00ff00ff', 'e2b_***'],
    ['svc_sba_abcdefgh-x', 'svc_sba_***'],
    ['token=svc_agt_abcd1234&x=1', 'token=***&x=1'],
    ['glued:xsvc_agt_abcd1234', 'glued:xsvc_agt_***'],
    ['sat_abcdef and tsec_abcdef', 'sat_*** and tsec_***'],
    ['/api/v1/invitations/svc_inv_0123456789/accept', '/api/v1/invitations/svc_inv_***/accept'],
  ])('hides a token of ours by its prefix: %s', (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it('hides a JWT wherever it stands', () => {
    expect(redactText('bad eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl here')).toBe(
      'bad eyJhbGciOiJFZERTQSJ9.*** here',
    );
    expect(redactText('/e2b/template-files/eyJoYXNoIjoiYSJ9.c2lnbmF0dXJl')).toBe(
      '/e2b/template-files/eyJoYXNoIjoiYSJ9.***',
    );
  });

  it('hides a JWT that other text is glued to', () => {
    expect(redactText('x-eyJhbGciOiJF.payload.signature')).toBe('x-eyJhbGciOiJF.***');
    expect(redactText('a.eyJhbGciOiJF.payload.signature,b')).toBe('a.eyJhbGciOiJF.***,b');
    expect(redactText('eyJhbGciOiJF..x eyJhbGciOiJF. eyJ.x noeyJhbGciOiJF.x')).toBe(
      'eyJhbGciOiJF..x eyJhbGciOiJF. eyJ.x noeyJhbGciOiJF.x',
    );
  });

  it.each([
    ['headers of JWTs', '-eyJhbGci', ''],
    ['backslashes in a key', '\\', '-----BEGIN PRIVATE KEY-----'],
    ['beginnings of keys', '-----BEGIN PRIVATE KEY-----A', ''],
  ])('takes no quadratic time for many %s', (_name, piece, start) => {
    const text = `${start}${piece.repeat(400_000)}!`;
    expect(redactText(text)).toBe(text);
  });

  it('hides the secret parameters of a URL and keeps the others', () => {
    const url = '/b/k?X-Amz-Credential=tid_1%2F2026&X-Amz-Date=20261121T000000Z&X-Amz-Signature=0abc&versionId=7#part';
    expect(redactText(url)).toBe(
      '/b/k?X-Amz-Credential=***&X-Amz-Date=20261121T000000Z&X-Amz-Signature=***&versionId=7#part',
    );
    expect(redactText('/ws/terminal/1?cols=80&ticket=abc&token=def')).toBe(
      '/ws/terminal/1?cols=80&ticket=***&token=***',
    );
  });

  it('hides the credentials of an Authorization header in a text', () => {
    expect(redactText('sent Bearer abcdefghijk')).toBe('sent Bearer ***');
    expect(redactText('subprotocol bearer.YWJjZGVmZ2g')).toBe('subprotocol bearer.***');
    expect(redactText('Basic dXNlcjpwYXNz')).toBe('Basic ***');
    expect(redactText('AWS4-HMAC-SHA256 Credential=x, Signature=00ff00ff')).toContain('Signature=***');
  });

  it('hides the password of a connection string', () => {
    expect(redactText('cannot reach postgres://svc:hunter2@10.0.0.3:5432/svc')).toBe(
      'cannot reach postgres://svc:***@10.0.0.3:5432/svc',
    );
    expect(redactText('host=db password=hunter2 user=svc')).toBe('host=db password=*** user=svc');
  });

  it('hides a private key, also one that was cut', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----';
    expect(redactText(key)).toBe('-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----');
    expect(redactText('-----BEGIN EC PRIVATE KEY-----\nMC4CAQ')).toBe('-----BEGIN EC PRIVATE KEY-----***');
  });

  it('leaves ordinary text alone', () => {
    const text = 'GET /api/containers?name=token-shop 200, basic auth is off, the bearer left, format_sat_is fine';
    expect(redactText(text)).toBe(text);
  });

  it('never breaks a line of JSON', () => {
    const secret = fc.constantFrom(
      'svc_pat_abcdef',
      'token=a"b',
      'password=\\',
      '-----BEGIN PRIVATE KEY-----',
      '-----END',
      '://u:p@h',
      'bearer ',
      'eyJhbGci.x.y',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(secret, fc.string()), { maxLength: 8 }), (parts) => {
        const line = JSON.stringify({ msg: parts.join(''), other: parts });
        expect(() => JSON.parse(redactText(line))).not.toThrow();
      }),
    );
  });
});

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createProxyTrust } from './proxy-trust.ts';

function requestFrom(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  return Object.assign(new IncomingMessage(socket), { headers });
}

describe('createProxyTrust', () => {
  const trust = createProxyTrust(['10.0.0.0/8']);

  it('takes the address that a trusted proxy forwards', () => {
    expect(trust.addressOf(requestFrom('10.1.2.3', { 'x-forwarded-for': '203.0.113.9' }))).toBe('203.0.113.9');
  });

  it('stops at the first hop that is not trusted, whatever stands before it', () => {
    const forged = requestFrom('10.1.2.3', { 'x-forwarded-for': '192.0.2.1, 203.0.113.9, 10.9.9.9' });
    expect(trust.addressOf(forged)).toBe('203.0.113.9');
  });

  it('ignores what anyone else forwards', () => {
    const forged = requestFrom('203.0.113.9', { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' });
    expect(trust.addressOf(forged)).toBe('203.0.113.9');
    expect(trust.isSecure(forged)).toBe(false);
    expect(createProxyTrust().addressOf(requestFrom('10.1.2.3', { 'x-forwarded-for': '192.0.2.1' }))).toBe('10.1.2.3');
  });

  it('takes the protocol that a trusted proxy was asked by', () => {
    expect(trust.isSecure(requestFrom('10.1.2.3', { 'x-forwarded-proto': 'https' }))).toBe(true);
    expect(trust.isSecure(requestFrom('10.1.2.3', { 'x-forwarded-proto': 'https, http' }))).toBe(false);
    expect(trust.isSecure(requestFrom('10.1.2.3'))).toBe(false);
  });
});

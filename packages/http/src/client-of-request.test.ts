import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createClientOfRequest } from './client-of-request.ts';

function requestFrom(remoteAddress: string, headers: Record<string, string>, encrypted = false): IncomingMessage {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress, configurable: true });
  const request = new IncomingMessage(encrypted ? Object.assign(socket, { encrypted }) : socket);
  Object.assign(request.headers, headers);
  return request;
}

const forged = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };

describe('the client of a request', () => {
  it('is who connects, whatever the headers say, without trusted proxies', () => {
    const clientOf = createClientOfRequest();
    expect(clientOf(requestFrom('10.0.0.1', forged))).toEqual({ remoteAddress: '10.0.0.1', isSecure: false });
    expect(clientOf(requestFrom('10.0.0.1', {}, true))).toEqual({ remoteAddress: '10.0.0.1', isSecure: true });
  });

  it('is who connects, when that is no trusted proxy', () => {
    const clientOf = createClientOfRequest(['10.1.0.0/16']);
    expect(clientOf(requestFrom('10.0.0.1', forged))).toEqual({ remoteAddress: '10.0.0.1', isSecure: false });
  });

  it('is whom the trusted proxy names last, over what it names last', () => {
    const clientOf = createClientOfRequest(['10.0.0.0/8']);
    expect(clientOf(requestFrom('10.0.0.1', forged))).toEqual({ remoteAddress: '203.0.113.9', isSecure: true });
    const headers = { 'x-forwarded-for': '192.0.2.1, 203.0.113.9, 10.0.0.7', 'x-forwarded-proto': 'https, http' };
    expect(clientOf(requestFrom('10.0.0.1', headers))).toEqual({ remoteAddress: '203.0.113.9', isSecure: false });
  });

  it('is as the connection to the proxy says when the proxy says nothing', () => {
    const clientOf = createClientOfRequest(['10.0.0.1']);
    expect(clientOf(requestFrom('10.0.0.1', {}, true))).toEqual({ remoteAddress: '10.0.0.1', isSecure: true });
  });

  it('stops at the first hop that is not trusted, whatever stands before it', () => {
    const clientOf = createClientOfRequest(['10.0.0.0/8']);
    const headers = { 'x-forwarded-for': '192.0.2.1, 203.0.113.9, 10.9.9.9' };
    expect(clientOf(requestFrom('10.1.2.3', headers))).toEqual({ remoteAddress: '203.0.113.9', isSecure: false });
  });

  it('is nobody once the connection is gone', () => {
    const request = requestFrom('10.0.0.1', forged);
    Object.defineProperty(request.socket, 'remoteAddress', { value: undefined });
    expect(createClientOfRequest(['10.0.0.0/8'])(request)).toEqual({ remoteAddress: '', isSecure: false });
  });
});

import type { Replica } from '@svc/replicas';
import { describe, expect, it } from 'vitest';
import type { PlatformConfig } from './config.ts';
import { advertisedUrl, createOwners, internalAddress } from './forwarding.ts';

const REPLICA: Replica = {
  id: 'other',
  bootId: 'boot',
  url: 'https://10.0.0.5:4300',
  host: 'other-host',
  version: '1',
  startedAt: '2026-01-01T00:00:00.000Z',
  seenAt: '2026-01-01T00:00:00.000Z',
  isLive: true,
  leaseLeftMs: 10_000,
  silentMs: 0,
};

describe('owners', () => {
  const find = (holder: string | null, live: readonly Replica[], kind = 'thing') => {
    const owners = createOwners({ id: 'self', live: async () => live }, () => ({ thing: async () => holder }));
    return owners.find({ kind, id: '1', workspaceUuid: 'w' });
  };

  it('are this replica, another live one, or none', async () => {
    expect(await find('self', [])).toBe('here');
    expect(await find('other', [REPLICA])).toEqual({ replica: 'other', bootId: 'boot', url: REPLICA.url });
    expect(await find(null, [REPLICA])).toBe('none');
  });

  it('are none if the replica is dead or cannot be reached, or if nothing of the kind has owners', async () => {
    expect(await find('other', [])).toBe('none');
    expect(await find('other', [{ ...REPLICA, url: null }])).toBe('none');
    expect(await find('other', [REPLICA], 'another')).toBe('none');
  });
});

describe('the internal listener', () => {
  const config = (internal: PlatformConfig['internal']) =>
    ({ host: '127.0.0.1', database: { url: 'postgres://database' }, internal }) as PlatformConfig; // what is read

  it('is off with SQLite, and on request', () => {
    const sqlite = { ...config({ listen: '127.0.0.1:4300' }), database: { max_connections: 1, silence_seconds: 20 } };
    expect(internalAddress(sqlite)).toBeNull();
    expect(internalAddress(config({ listen: 'off' }))).toBeNull();
  });

  it('takes any free port of the host unless an address is set', () => {
    expect(internalAddress(config({}))).toEqual({ host: '127.0.0.1', port: 0 });
    expect(internalAddress(config({ listen: '10.0.0.5:4300' }))).toEqual({ host: '10.0.0.5', port: 4300 });
    expect(internalAddress(config({ listen: '[fd00::1]:4300' }))).toEqual({ host: 'fd00::1', port: 4300 });
  });

  it('is advertised at its address, at one of the machine if it listens on all, or as configured', () => {
    expect(advertisedUrl(config({}), { host: '10.0.0.5', port: 4300 })).toBe('https://10.0.0.5:4300');
    expect(advertisedUrl(config({}), { host: 'fd00::1', port: 1 })).toBe('https://[fd00::1]:1');
    expect(advertisedUrl(config({}), { host: '0.0.0.0', port: 1 })).not.toContain('0.0.0.0');
    const behind = config({ advertise_url: 'https://replica-1:4300' });
    expect(advertisedUrl(behind, { host: '0.0.0.0', port: 1 })).toBe('https://replica-1:4300');
  });
});

import { fakeClock } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { OpenPreviews, type OpenPort } from './open-previews.ts';

const LINK: OpenPort = { sandboxId: 'sbx_a', linkId: 'pvw_a', expiresAtMs: null, address: null };

describe('the connections to ports of a sandbox', () => {
  const previews = (): { open: OpenPreviews; take: (port: Partial<OpenPort>) => () => void; fill: Fill } => {
    const open = new OpenPreviews(fakeClock());
    const take = (port: Partial<OpenPort>): (() => void) => open.enter({ ...LINK, ...port }, () => undefined);
    const fill: Fill = (port) => {
      let taken = 0;
      for (; taken <= 200; taken += 1) {
        try {
          take(port());
        } catch (error) {
          return { taken, error };
        }
      }
      throw new Error('nothing was refused');
    };
    return { open, take, fill };
  };

  it('are shared between clients without a credential: no address and no network takes all', () => {
    const { take, fill } = previews();
    const { taken, error } = fill(() => ({ address: '192.0.2.1' }));
    expect(taken).toBe(32);
    expect(error).toMatchObject({ code: 'PREVIEW_BUSY', details: { holder: 'address', held: 32, limit: 96 } });
    expect(fill(() => ({ address: '2001:db8:1:1::1' })).taken).toBeGreaterThan(10);
    take({ address: '198.51.100.7' });
  });

  it('count the /64 of an IPv6 client as one address, and its /48 as one network', () => {
    const { take, fill } = previews();
    let host = 0;
    expect(fill(() => ({ address: `2001:db8:1:1::${(host += 1)}` })).taken).toBe(32);
    let network = 1;
    expect(fill(() => ({ address: `2001:db8:1:${(network += 1)}::1` })).error).toMatchObject({
      details: { holder: 'network', held: 48 },
    });
    take({ address: '2001:db8:2::1' });
  });

  it('leave what is free to clients with a link, a token or SSH', () => {
    const { fill } = previews();
    fill(() => ({ address: '192.0.2.1' }));
    const { taken, error } = fill(() => ({}));
    expect(taken).toBe(96 - 32);
    expect(error).toMatchObject({ code: 'PREVIEW_BUSY', status: 503, details: { holder: 'sandbox', held: 96 } });
  });

  it('are counted for each sandbox, and free again once they end', () => {
    const { open, take, fill } = previews();
    fill(() => ({ address: '192.0.2.1' }));
    const leave = take({ sandboxId: 'sbx_b', address: '192.0.2.1' });
    leave();
    leave();
    expect(open.size).toBe(32);
    expect(fill(() => ({ sandboxId: 'sbx_b', address: '192.0.2.1' })).taken).toBe(32);
  });
});

type Fill = (port: () => Partial<OpenPort>) => { taken: number; error: unknown };

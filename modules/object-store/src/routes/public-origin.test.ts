import { describe, expect, it } from 'vitest';
import { PublicOrigin, type Approach } from './public-origin.ts';

const CHROMIUM =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
const SAFARI = 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15';

function approach(host: string, headers: Approach['headers'] = {}, protocol = 'http'): Approach {
  return { method: 'GET', host, protocol, headers: { host, ...headers } };
}
const pageLoad = { 'sec-fetch-mode': 'navigate', 'user-agent': CHROMIUM };

describe('PublicOrigin', () => {
  it('has one host per bucket', () => {
    const origin = new PublicOrigin({ domain: 'objects.example.net' });
    expect(origin.parsePlace('photos.objects.example.net:4000')).toEqual({ bucketName: 'photos' });
    expect(origin.parsePlace('PHOTOS.objects.example.net.')).toEqual({ bucketName: 'photos' });
    expect(origin.parsePlace('a.b.objects.example.net')).toEqual({ bucketName: null });
    expect(origin.parsePlace('objects.example.net')).toEqual({ bucketName: null });
    for (const host of [
      'example.net',
      'xobjects.example.net',
      'objects.example.net.evil',
      '127.0.0.1:4000',
      undefined,
    ]) {
      expect(origin.parsePlace(host)).toBeNull();
    }
  });

  it('serves every client if the operator configured a domain', () => {
    const baseUrl = () => 'https://console.example.com';
    const origin = new PublicOrigin({ domain: 'objects.example.net', baseUrl });
    const to = 'https://photos.objects.example.net/a%20b';
    expect(origin.isForEverybody).toBe(true);
    expect(origin.redirectFor('photos', 'a%20b', approach('console.example.com'))).toBe(to);
    expect(origin.redirectFor('photos', 'a%20b', approach('127.0.0.1:4000', pageLoad))).toBe(to);
    expect(origin.redirectFor('photos', 'k', approach('c.example.com:4443', {}, 'https'))).toBe(
      'https://photos.objects.example.net:4443/k',
    );
    expect(origin.redirectFor('with.dot', 'k', approach('console.example.com'))).toBeNull();
  });

  it('redirects to localhost names only local page loads of browsers that resolve them', () => {
    const origin = new PublicOrigin({ domain: 'objects.localhost', baseUrl: () => 'http://127.0.0.1:1' });
    const to = 'http://photos.objects.localhost:4000/k';
    expect(origin.isForEverybody).toBe(false);
    for (const host of ['127.0.0.1:4000', 'localhost:4000', '[::1]:4000', 'svc.localhost:4000']) {
      expect(origin.redirectFor('photos', 'k', approach(host, pageLoad))).toBe(to);
    }
    const accepts = { accept: 'text/html,*/*;q=0.8', 'user-agent': 'Mozilla/5.0 Gecko/20100101 Firefox/153.0' };
    expect(origin.redirectFor('photos', 'k', approach('127.0.0.1:4000', accepts))).toBe(to);
    const inPlace = [
      approach('127.0.0.1:4000'),
      approach('127.0.0.1:4000', { ...pageLoad, 'user-agent': SAFARI }),
      approach('127.0.0.1:4000', { ...pageLoad, 'sec-fetch-mode': 'no-cors' }),
      approach('192.168.1.5:4000', pageLoad),
      approach('console.example.com', pageLoad),
    ];
    for (const each of inPlace) expect(origin.redirectFor('photos', 'k', each)).toBeNull();
  });

  it('returns null for a host that cannot be part of a URL', () => {
    const origin = new PublicOrigin({ domain: 'objects.localhost' });
    expect(origin.redirectFor('photos', 'k', approach('127.0.0.1:99999', pageLoad))).toBeNull();
    expect(origin.urlOf('photos', 'k', approach('127.0.0.1:99999'))).toBeNull();
  });

  it('returns null if no domain is configured', () => {
    const origin = new PublicOrigin({ domain: '' });
    expect(origin.parsePlace('photos.objects.localhost')).toBeNull();
    expect(origin.parsePlace('')).toBeNull();
    expect(origin.redirectFor('photos', 'k', approach('127.0.0.1:4000', pageLoad))).toBeNull();
  });
});

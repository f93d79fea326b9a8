import { describe, expect, it } from 'vitest';
import { networkOptions, sourceLines } from './debootstrap.ts';

const LISTED = [
  'http://mirror.example/debian/|bookworm|bookworm|main|Debian',
  'http://mirror.example/debian/|bookworm-updates|bookworm-updates|main|Debian',
  'http://mirror.example/debian-security/|bookworm-security|bookworm-security|main|Debian',
  'http://mirror.example/debian/|bookworm|bookworm|main|Debian',
  'https://vendor.example/deb/|stable|bookworm|main|Vendor',
  'http://mirror.example/debian/|trixie|trixie|main|Debian',
  '',
].join('\n');

describe('sourceLines', () => {
  it("returns the machine's Debian sources for the suite, without duplicates or third-party sources", () => {
    expect(sourceLines(LISTED, 'bookworm')).toEqual([
      'deb http://mirror.example/debian/ bookworm main',
      'deb http://mirror.example/debian/ bookworm-updates main',
      'deb http://mirror.example/debian-security/ bookworm-security main',
    ]);
  });

  it('returns nothing for a suite that the machine has no sources for', () => {
    expect(sourceLines(LISTED, 'sid')).toEqual([]);
  });
});

describe('networkOptions', () => {
  it('passes on only proxies and certificates', () => {
    const dumped = 'Acquire "";\nAcquire::http::Proxy "http://proxy.example:3128";\nAcquire::Retries "3";\n';
    expect(networkOptions(dumped)).toEqual(['Acquire::http::Proxy "http://proxy.example:3128"']);
  });
});

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
  it("takes the machine's Debian sources of the suite, each once, and no vendor's", () => {
    expect(sourceLines(LISTED, 'bookworm')).toEqual([
      'deb http://mirror.example/debian/ bookworm main',
      'deb http://mirror.example/debian/ bookworm-updates main',
      'deb http://mirror.example/debian-security/ bookworm-security main',
    ]);
  });

  it('finds nothing for a suite that the machine does not know', () => {
    expect(sourceLines(LISTED, 'sid')).toEqual([]);
  });
});

describe('networkOptions', () => {
  it('hands on proxies and certificates and nothing else', () => {
    const dumped = 'Acquire "";\nAcquire::http::Proxy "http://proxy.example:3128";\nAcquire::Retries "3";\n';
    expect(networkOptions(dumped)).toEqual(['Acquire::http::Proxy "http://proxy.example:3128"']);
  });
});

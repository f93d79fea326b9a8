import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCrc, CrcJoiner, crcToBase64, type CrcName } from './crc.ts';

function crcOf(name: CrcName, bytes: Uint8Array): bigint {
  const crc = createCrc(name);
  crc.update(bytes);
  return crc.value();
}

describe('checksums', () => {
  it('match the catalogue for its check string', () => {
    const check = Buffer.from('123456789');
    expect(crcOf('crc32', check).toString(16)).toBe('cbf43926');
    expect(crcOf('crc64nvme', check).toString(16)).toBe('ae8b14860a799888');
    expect(crcToBase64('crc32', crcOf('crc32', check))).toBe('y/Q5Jg==');
    expect(crcToBase64('crc64nvme', crcOf('crc64nvme', check))).toBe('rosUhgp5mIg=');
  });

  it('combine to the checksum of the whole, however it was split', () => {
    const joiners = { crc32: new CrcJoiner('crc32'), crc64nvme: new CrcJoiner('crc64nvme') };
    const names = fc.constantFrom<CrcName>('crc32', 'crc64nvme');
    fc.assert(
      fc.property(
        names,
        fc.uint8Array({ maxLength: 500 }),
        fc.uint8Array({ maxLength: 500 }),
        (name, first, second) => {
          const joined = joiners[name].join(crcOf(name, first), crcOf(name, second), second.length);
          expect(joined).toBe(crcOf(name, Buffer.concat([first, second])));
        },
      ),
      { numRuns: 60 },
    );
  });
});

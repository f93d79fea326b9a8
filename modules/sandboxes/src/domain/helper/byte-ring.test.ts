import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteRing } from './byte-ring.ts';

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('push' as const), size: fc.integer({ min: 0, max: 9000 }) }),
    fc.record({ kind: fc.constant('take' as const), size: fc.constant(0) }),
    fc.record({ kind: fc.constant('release' as const), size: fc.integer({ min: 1, max: 9000 }) }),
  ),
  { maxLength: 60 },
);

describe('ByteRing', () => {
  it('returns every byte once, in order, and does not change taken bytes until they are released', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const ring = new ByteRing();
        const [pushed, taken] = [[] as number[], [] as number[]];
        const held: { view: Buffer; copy: Buffer }[] = [];
        for (const { kind, size } of sequence) {
          if (kind === 'push') {
            const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (pushed.length + index * 7) % 251));
            pushed.push(...bytes);
            ring.push(bytes);
          } else if (kind === 'take') {
            const view = ring.take();
            if (view === null) continue;
            taken.push(...view);
            held.push({ view, copy: Buffer.from(view) });
          } else if (held.length > 0) {
            ring.release(held.shift()?.view.length ?? 0);
          }
          for (const { view, copy } of held) expect(view.equals(copy)).toBe(true);
        }
        for (let view = ring.take(); view !== null; view = ring.take()) taken.push(...view);
        expect(taken).toEqual(pushed);
      }),
    );
  });

  it('does not grow while bytes are taken as they arrive', () => {
    const ring = new ByteRing();
    const buffers = new Set<ArrayBufferLike>();
    for (let index = 0; index < 10_000; index += 1) {
      ring.push(Buffer.alloc(4000));
      for (let view = ring.take(); view !== null; view = ring.take()) {
        buffers.add(view.buffer);
        ring.release(view.length);
      }
    }
    expect(buffers.size).toBe(1);
  });
});

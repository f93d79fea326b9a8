import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAppError } from '@svc/errors';
import { decodeEnvelope, encodeEnvelope } from './envelope.ts';
import { PROTOCOL_LIMITS } from './limits.ts';

const heartbeat = {
  type: 'heartbeat',
  id: 'msg-001',
  timestamp: '2026-11-21T09:30:00Z',
  payload: { status: 'healthy', metrics: { cpu_usage: 0.25, memory_usage: 0.35, active_pods: 12 } },
};

function refusal(text: string): { code: string; details: Record<string, unknown> } {
  try {
    decodeEnvelope(text);
  } catch (error) {
    if (isAppError(error)) return { code: error.code, details: error.details };
    throw error;
  }
  throw new Error('accepted');
}

describe('an envelope', () => {
  it('has exactly the four fields of the contract on the wire', () => {
    const withMore = { ...heartbeat, extra: true };
    const text = encodeEnvelope(withMore);
    expect(Object.keys(JSON.parse(text) as object)).toEqual(['type', 'id', 'timestamp', 'payload']);
    expect(decodeEnvelope(text)).toEqual(heartbeat);
  });

  it.each([
    ['type', { ...heartbeat, type: undefined }],
    ['type', { ...heartbeat, type: 'two words' }],
    ['type', { ...heartbeat, type: 'x'.repeat(65) }],
    ['id', { ...heartbeat, id: 7 }],
    ['id', { ...heartbeat, id: '' }],
    ['id', { ...heartbeat, id: 'line\nbreak' }],
    ['timestamp', { ...heartbeat, timestamp: 'yesterday' }],
    ['timestamp', { ...heartbeat, timestamp: '2026-13-41T00:00:00Z' }],
    ['payload', { ...heartbeat, payload: [] }],
    ['payload', { ...heartbeat, payload: null }],
    ['version', { ...heartbeat, version: 1 }],
  ])('is refused with the name of the wrong field: %s', (field, value) => {
    const { code, details } = refusal(JSON.stringify(value));
    expect(code).toBe('MALFORMED_ENVELOPE');
    expect(details['field']).toBe(field);
    expect(details['reason']).toBeTypeOf('string');
  });

  it.each(['', 'hello', '[]', 'null', '"text"', '{"type":', '\u0000'])('is not %j', (text) => {
    expect(refusal(text).code).toBe('MALFORMED_ENVELOPE');
  });

  it('does not repeat the text of a frame that is not JSON, since it may hold a secret', () => {
    try {
      decodeEnvelope('{"token": "svc_agt_secret_value" oops');
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toContain('svc_agt_secret_value');
    }
  });

  it.each([
    ['2026-11-21T09:30:00', '2026-11-21T09:30:00Z'],
    ['2026-11-21T09:30:00.123456', '2026-11-21T09:30:00.123456Z'],
    ['2026-11-21T09:30:00,5+0100', '2026-11-21T09:30:00.5+01:00'],
    ['2026-11-21T09:30-03', '2026-11-21T09:30:00-03:00'],
    ['2026-11-21T09:30:00.000Z', '2026-11-21T09:30:00.000Z'],
  ])('may write its time in any way of the extended format: %s', (timestamp, read) => {
    expect(decodeEnvelope(JSON.stringify({ ...heartbeat, timestamp })).timestamp).toBe(read);
  });

  it('is refused above the frame limit, counted in bytes and not in characters', () => {
    const text = JSON.stringify({ ...heartbeat, payload: { text: 'é'.repeat(PROTOCOL_LIMITS.frameSizeBytes / 2) } });
    expect(text.length).toBeLessThan(PROTOCOL_LIMITS.frameSizeBytes);
    expect(refusal(text).code).toBe('FRAME_TOO_LARGE');
    expect(() => encodeEnvelope({ ...heartbeat, payload: { text: 'é'.repeat(600_000) } })).toThrow('larger than');
  });

  it('is refused when it nests deeper than the limit, before anything walks it', () => {
    const open = '['.repeat(400_000);
    expect(refusal(`{"type":"event","id":"1","timestamp":"2026-11-21T09:30:00Z","payload":{"a":${open}`)).toMatchObject(
      {
        code: 'MALFORMED_ENVELOPE',
        details: { reason: 'nests deeper than 64 levels' },
      },
    );
  });

  it('may hold brackets in strings without counting them as nesting', () => {
    const payload = { text: '{['.repeat(1000) + '"\\' };
    expect(decodeEnvelope(encodeEnvelope({ ...heartbeat, payload })).payload).toEqual(payload);
  });

  it('survives any text: an envelope or a catalogue error, never another failure', () => {
    const mangled = fc
      .tuple(fc.constant(JSON.stringify(heartbeat)), fc.nat(), fc.string({ maxLength: 8 }), fc.nat(20))
      .map(
        ([text, at, insert, cut]) => text.slice(0, at % text.length) + insert + text.slice((at % text.length) + cut),
      );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), mangled), (text) => {
        try {
          expect(Object.keys(decodeEnvelope(text))).toEqual(['type', 'id', 'timestamp', 'payload']);
        } catch (error) {
          expect(isAppError(error)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('comes back as it was sent, whatever the payload', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (payload) => {
        const text = encodeEnvelope({ ...heartbeat, payload });
        expect(JSON.stringify(decodeEnvelope(text).payload)).toBe(JSON.stringify(payload));
      }),
      { numRuns: 500 },
    );
  });
});

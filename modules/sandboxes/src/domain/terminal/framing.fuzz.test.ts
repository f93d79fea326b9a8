import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { fitsInFrame } from '../helper/frames.ts';
import { defaultFraming } from './default-framing.ts';
import type { ClientInput } from './framing.ts';
import { SendBuffers } from './send-buffers.ts';
import { v1Framing } from './v1-framing.ts';

/** What the terminal passes on to the helper as a control; null for anything else. */
function controlOf(input: ClientInput): object | null {
  if (input.kind === 'resize') return { type: 'resize', cols: input.cols, rows: input.rows };
  return input.kind === 'signal' ? { type: 'signal', name: input.name } : null;
}

describeFuzz({
  name: 'what terminal clients send',
  corpus: new URL('./corpus/framing/', import.meta.url),
  seeds: [
    '\0{"type":"resize","cols":80,"rows":24}',
    '\0{"type":"signal","name":"SIGINT"}',
    '\0{"type":"input","data":"ls\\n"}',
    '\x01\0bytes',
    '\0{"type":"ack","bytes":9007199254740991}',
    `\0{"type":"signal","name":"${'A'.repeat(2_000)}"}`,
    '\0{"type":"eof"}{"type":"ping"}',
  ],
  dictionary: [
    '"type":"',
    '"signal"',
    '"resize"',
    '"cols":',
    '"name":"',
    '1e999',
    '-0',
    'null',
    '"__proto__":{',
    '\ud83d\ude00',
    '\\ud800',
    '}',
    '\0',
  ],
  run: (input) => {
    const isBinary = input[0] === 1;
    const data = input.subarray(1);
    for (const framing of [
      defaultFraming('text', new SendBuffers()),
      defaultFraming('binary', new SendBuffers()),
      v1Framing(new SendBuffers()),
    ]) {
      const found = framing.input(data, isBinary);
      expect(['stdin', 'resize', 'signal', 'ack', 'eof', 'ping', 'unusable', 'violation']).toContain(found.kind);
      if (found.kind === 'stdin') expect(found.bytes.length).toBeLessThanOrEqual(3 * data.length);
      if (found.kind === 'ack') expect(Number.isSafeInteger(found.bytes) && found.bytes >= 0).toBe(true);
      const control = controlOf(found);
      // No control message needs more than a hundred bytes.
      if (control !== null) expect([fitsInFrame(control), JSON.stringify(control).length < 300]).toEqual([true, true]);
    }
  },
});

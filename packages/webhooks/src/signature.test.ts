import { expect, it } from 'vitest';
import { newWebhookSecret, signatureHeaders } from './signature.ts';

// The example of the specification of Standard Webhooks.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const MESSAGE = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1_614_265_330, body: '{"test": 2432232314}' };

it('signs as the specification shows', () => {
  expect(signatureHeaders({ ...MESSAGE, secrets: [SECRET] })).toEqual({
    'webhook-id': MESSAGE.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it('adds a signature for each secret', () => {
  const { 'webhook-signature': signatures = '' } = signatureHeaders({ ...MESSAGE, secrets: [SECRET, SECRET] });
  expect(signatures.split(' ')).toHaveLength(2);
});

it('creates secrets of 32 random bytes', () => {
  expect(newWebhookSecret((size) => Buffer.alloc(size, 1))).toBe(`whsec_${Buffer.alloc(32, 1).toString('base64')}`);
});

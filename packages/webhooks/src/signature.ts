import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Creates a secret in the format of Standard Webhooks (standardwebhooks.com, 1.0.0). */
export function newWebhookSecret(random: (size: number) => Buffer): string {
  return SECRET_PREFIX + random(SECRET_BYTES).toString('base64');
}

/** A message with what its signature covers. */
export interface SignedMessage {
  /** The same on every attempt, so that receivers can detect duplicates. */
  readonly id: string;
  /** Time of this attempt. */
  readonly timestampSeconds: number;
  readonly body: string;
  /** Each adds a signature. */
  readonly secrets: readonly string[];
}

/** The headers of Standard Webhooks: HMAC-SHA256 over id, time and body. */
export function signatureHeaders({ id, timestampSeconds, body, secrets }: SignedMessage): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

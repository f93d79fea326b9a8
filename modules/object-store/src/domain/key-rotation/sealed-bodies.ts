import { ringContext } from '../encryption/key-envelope.ts';
import { acmeAccountContext, certificateContext } from '../ports/custom-domains.ts';
import type { SealedKind, SealedRow } from '../ports/key-ring.ts';
import type { ObjectAttributes } from '../ports/records.ts';
import { parseNotificationDocument, webhookSecretContext } from '../notifications/notification-document.ts';

/** A sealed text inside a row. */
export interface SealedText {
  sealed: string;
  context: string;
}

/** The texts in a row that are sealed under a key of the store. SSE-C has none. */
export function sealedTexts(kind: SealedKind, { key, body }: SealedRow): readonly SealedText[] {
  const name = String(key[0]);
  switch (kind) {
    case 'object':
    case 'upload':
      return parseDataKey(body);
    case 'access-key':
      return [{ sealed: body, context: name }];
    case 'certificate':
      return [{ sealed: body, context: certificateContext(name) }];
    case 'acme-account':
      return [{ sealed: body, context: acmeAccountContext(name) }];
    case 'notification': {
      const { secret, previousSecret } = parseNotificationDocument(body);
      const context = webhookSecretContext(Number(key[0]));
      return [secret, previousSecret?.sealed].flatMap((sealed) => (sealed === undefined ? [] : [{ sealed, context }]));
    }
  }
}

/** Replaces sealed texts in a body. Each is long and random, and occurs once. */
export function withSealedTexts(body: string, replaced: ReadonlyMap<string, string>): string {
  let changed = body;
  for (const [from, to] of replaced) changed = changed.replace(from, () => to);
  return changed;
}

function parseDataKey(body: string): readonly SealedText[] {
  if (!body.includes('"encryption"')) return []; // skip parsing for most rows
  const { encryption } = JSON.parse(body) as ObjectAttributes; // written by the store from this type
  if (encryption === undefined || encryption.mode === 'sse-c') return [];
  return [{ sealed: encryption.sealedKey, context: ringContext(encryption) }];
}

import type { AuditEntry } from '@svc/sdk';

/** Returns a person's email address, a service account's name, or a generic word. */
export function actorName({ actor }: AuditEntry): string {
  return actor.name ?? actor.id ?? (actor.kind === 'anonymous' ? 'Anonymous' : actor.kind);
}

const UUID = /^(.*?)([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Shortens `token/4f0c1a2b-…` to `token/4f0c1a2b…`, which is distinct and fits a column. */
export function shortResource(resource: string): string {
  const [, before, start] = UUID.exec(resource) ?? [];
  return before === undefined || start === undefined ? resource : `${before}${start}…`;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'The request was not valid, or was cut off before it was complete.',
  401: 'The credential was missing, wrong or expired.',
  403: 'The role or the credential does not allow this.',
  404: 'The resource does not exist, or the caller has no access to it.',
  409: 'It conflicts with the current state of the resource.',
  412: 'The resource changed in the meantime.',
  413: 'The request was too large.',
  415: 'The content type is not supported.',
  422: 'The request was not valid.',
  423: 'The resource is locked.',
  429: 'The rate limit was exceeded.',
  499: 'The client disconnected before the answer.',
  503: 'The service was not available.',
  504: 'The service took too long.',
};

/** Why an entry was denied or failed, in one sentence; null for a success. */
export function outcomeReason({ outcome, status }: Pick<AuditEntry, 'outcome' | 'status'>): string | null {
  if (outcome === 'success') return null;
  return (
    REASONS[status] ?? (status >= 500 ? 'The platform failed to complete the request.' : 'The request was rejected.')
  );
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  session: 'Session',
  jwt: 'Access token',
  oidc: 'OIDC token',
  api_token: 'API token',
  ssh_key: 'SSH key',
  service_account: 'Service account',
  guest_jwt: 'Guest token',
};

export function credentialName({ credential }: AuditEntry): string {
  return credential === null ? 'None' : (CREDENTIALS[credential.kind] ?? credential.kind);
}

import type { AuditEntry } from '@svc/sdk';

/** A person's e-mail, a service account's name, or a word for those without either. */
export function actorName({ actor }: AuditEntry): string {
  return actor.name ?? actor.id ?? (actor.kind === 'anonymous' ? 'Anonymous' : actor.kind);
}

const UUID = /^(.*?)([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `token/4f0c1a2b-…` becomes `token/4f0c1a2b…`: enough to tell two apart, and both fit a column. */
export function shortResource(resource: string): string {
  const [, before, start] = UUID.exec(resource) ?? [];
  return before === undefined || start === undefined ? resource : `${before}${start}…`;
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  session: 'Session',
  jwt: 'Access token',
  oidc: 'OIDC token',
  api_token: 'API token',
  service_account: 'Service account',
  guest_jwt: 'Guest token',
};

export function credentialName({ credential }: AuditEntry): string {
  return credential === null ? 'None' : (CREDENTIALS[credential.kind] ?? credential.kind);
}

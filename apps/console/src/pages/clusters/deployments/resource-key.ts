import type { ResourceResult } from '@svc/sdk';

/** Names one object of a cluster. */
export function keyOf({ api_version: version, kind, namespace, name }: ResourceResult): string {
  return `${version} ${kind} ${namespace} ${name}`;
}
